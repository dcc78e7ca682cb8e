// SPDX-License-Identifier: BSD-3-Clause

// Package control holds the management unit of the UPF, airpath-n4.
package control
