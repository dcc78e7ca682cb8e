# SPDX-License-Identifier: BSD-3-Clause
"""What the Python tests share: an independent encoder, tshark as judge, namespaces, deployments."""
