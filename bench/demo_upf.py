# SPDX-License-Identifier: BSD-3-Clause
"""A UPF shown at work: data plane, agent, one PDU session over PFCP, traffic both ways in network
namespaces, then the counters and the usage report."""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from harness import netns, traffic, usage
from harness import pfcp_ies as ies
from harness.upf import DN, DN_6, GNB, N3, N6, Upf, pdu_session

MBYTES = 4


def row(name: str, *values) -> None:
    print(f"  {name:<28}" + "".join(f"{value!s:>18}" for value in values))


def carry(upf: Upf, ue) -> bool:
    """Traffic between the UE and the internet. @return whether all of it came through."""
    good = True
    for address in (DN, DN_6):
        sent, answered = traffic.ping(ue.ns, address, size=1000)
        good &= sent == answered
        row(f"ping {address}", f"{answered} of {sent}")
    for name, server, client, address in (
        ("TCP up", upf.dn, ue.ns, DN),
        ("TCP down", ue.ns, upf.dn, ue.v4),
        ("TCP down, IPv6", ue.ns, upf.dn, ue.v6),
    ):
        sent, received = traffic.tcp_transfer(server, client, address, MBYTES << 20, window=100_000)
        good &= sent == received
        row(name, f"{MBYTES} MB", "SHA-256 " + ("equal" if sent == received else "DIFFERS"))
    return good


def show(report: dict) -> None:
    print("\nnodes of the data plane (packets)")
    row("", "in", "out", "used", "drops")
    for node in report["nodes"]:
        if node["in"] or node["made"]:
            drops = sum(node["drops"].values())
            row(node["node"], node["in"], node["out"], node["used"], drops)
    row("all", report["rx"], report["tx"], "", report["drops"])
    print(f"  rx = tx + held + drops: {report['balanced']}")


def run(folder: Path) -> bool:
    upf = Upf(folder)
    try:
        smf, gnb = upf.smf(), upf.gnb()
        smf.associate()
        print(f"association of SMF {smf.address} with UPF {upf.n4}; N3 {N3}, N6 {N6}, gNB {GNB}")
        rules = [
            ies.qer(2, mbr=(1_000_000, 2_000_000)),
            ies.urr(1, methods=["VOLUM", "DURAT"]),
        ]
        session = pdu_session(smf, *rules, qers=(1, 2), urrs=(1,), v6=True)
        v4, v6 = session.ue[1]
        print(
            f"session {session.seid:#x}: UE {v4} and {v6}/64, uplink TEID "
            f"{session.tunnels[1][0]:#010x}, MBR 1 Gbit/s up, 2 down\n"
        )
        ue = upf.ue(gnb, session, downlink=7)
        good = carry(upf, ue)
        (report,) = usage.reports(session.delete())
        print("\nusage report of the deletion response, beside what the gNB's end counted")
        row("", "octets up", "octets down", "packets up", "packets down")
        counted = (ue.ul_bytes, ue.dl_bytes, ue.ul_packets, ue.dl_packets)
        reported = (report.uplink, report.downlink)
        reported += (report.uplink_packets, report.downlink_packets)
        row(f"URR {report.urr}, UR-SEQN {report.seqn}", *reported)
        row("gNB", *counted)
        good &= counted == reported
        show(upf.stop())
    finally:
        upf.close()
    return good


def main() -> int:
    if not netns.available():
        print("no right to make network namespaces here; run as root")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        return 0 if run(Path(folder)) else 1


if __name__ == "__main__":
    sys.exit(main())
