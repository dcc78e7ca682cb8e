# SPDX-License-Identifier: BSD-3-Clause
"""One graph, any cut: where nodes run changes no byte at the PHY."""

import subprocess

from harness import deployment as d
from harness.program import AIRPATH, ROOT
from harness.traffic import datagram

UPLINK = ["user_rx", "copy_ul_in", "sdap_tx", "pdcp_tx", "rlc_tx", "mac_slot"]
UPLINK += ["mac_build_fa0", "mac_build_fa1", "fapi_tx_fa0", "fapi_tx_fa1", "phy_tx"]

FUSED = {"ue.*": "one"}
CUTS = {
    "mac apart": {**FUSED, "ue.mac_slot": "mac"},
    "a carrier apart": {**FUSED, "ue.mac_build_fa1": "fa1", "ue.fapi_tx_fa1": "fa1"},
    "io apart": {**FUSED, "ue.user_rx": "io", "ue.phy_tx": "io"},
    "every other node": {**FUSED, **{f"ue.{n}": "two" for n in UPLINK[::2]}},
    "every node": {**FUSED, **{f"ue.{n}": n for n in UPLINK}},
}


def tbs_of(stack, place) -> tuple[list, dict]:
    ue = stack(bearers=[d.bearer()], carriers=2, place=place)
    ue.send([datagram(n, 40 + 131 * n % 1400) for n in range(120)])
    tbs = []
    for n in range(8):
        ue.modem.slot(0, n, [9000, 4000])
        tbs += ue.modem.collect(2)
    return sorted((t.slot, t.carrier, t.pdu) for t in tbs), ue.stop()


def test_cuts_change_no_byte(stack):
    fused, report = tbs_of(stack, FUSED)
    assert report["cuts"] == []
    for name, place in CUTS.items():
        cut, report = tbs_of(stack, place)
        assert report["cuts"], name
        assert cut == fused, name


def test_picture_in_the_docs_is_what_the_program_draws():
    svg = subprocess.run(
        [AIRPATH, "show", "graph", "--svg", "deploy/ue-loopback-pipeline.yaml"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert svg == (ROOT / "docs" / "ue-loopback-pipeline.svg").read_text(), (
        "build/airpath show graph --svg --out docs/ue-loopback-pipeline.svg "
        "deploy/ue-loopback-pipeline.yaml"
    )
