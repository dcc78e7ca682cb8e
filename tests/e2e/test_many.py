# SPDX-License-Identifier: BSD-3-Clause
"""Eight UEs of four DRBs each in one process: nobody gets what is another's."""

from harness import deployment as d
from harness import program, telemetry
from harness.program import Airpath

UES = 8
PACKETS = 400
KEYS = {
    "key_enc": "00112233445566778899aabbccddeeff",
    "key_int": "ffeeddccbbaa99887766554433221100",
}


def bearers(secure: bool) -> list[dict]:
    """UM and AM in turn; each has a QoS flow of its own."""
    slow = {"t_reordering_ms": 3000, "integrity": secure}
    modes = [
        {"mode": "um", "t_reassembly_ms": 9000},
        {"mode": "am", "t_poll_retransmit_ms": 500},
    ] * 2
    return [
        d.bearer(
            n + 1,
            default=n == 0,
            qfis=[10 + n],
            pdcp=slow,
            rlc={**mode, "queue_sdus": 512},
            mac={"priority": 1 + n, "lcg": n},
        )
        for n, mode in enumerate(modes)
    ]


def one(k: int) -> dict:
    """UE k: ports, PHY, and a generator that knows its packets by their seed."""
    secure = k < 2
    return {
        "ports": [
            *d.ring_pair(f"gen{k}", f"user{k}", "ip"),
            *d.ring_pair(f"radio{k}", f"phy{k}"),
        ],
        "ue": d.ue(
            f"ue{k}",
            f"user{k}",
            f"radio{k}",
            bearers(secure),
            rnti=100 + k,
            qos=[{"dscp": n, "qfi": 10 + n} for n in range(4)],
            **({"security": {"nea": 2, "nia": 2, **KEYS}} if secure else {}),
        ),
        "phy": {
            "name": f"phy{k}",
            "port": f"phy{k}",
            "numerology": 0,
            "rnti": 100 + k,
            "tb_bytes": [20000],
            "seed": 1 + k,
        },
        "gen": {
            "name": f"gen{k}",
            "port": f"gen{k}",
            "sizes": [64, 700, 1400],
            "dscps": [0, 1, 2, 3],
            "flows": 4 + k,
            "seed": 1000 + k,
            "pps": 400,
            "packets": PACKETS,
        },
    }


def test_every_packet_comes_back_to_its_ue(net, tmp_path):
    parts = [one(k) for k in range(UES)]
    file = d.write(
        tmp_path / "many.yaml",
        "many",
        memory={"mb": 1024},
        ports=[port for part in parts for port in part["ports"]],
        ue=[part["ue"] for part in parts],
        phy=[part["phy"] for part in parts],
        gen=[part["gen"] for part in parts],
        lcores=d.lcores("a", "b"),
        place=[
            {"node": f"{role}{k}.*", "lcore": "ab"[(k + (role == "phy")) % 2]}
            for k in range(UES)
            for role in ("ue", "phy", "gen")
        ],
    )
    airpath = Airpath(net, net.add("m"), file)
    gens = [f"gen{k}" for k in range(UES)]
    telemetry.wait_back("many", PACKETS, *gens)
    sent = [
        telemetry.ask("many", "/airpath/rlc", f"ue{k}", drb) for k in range(UES) for drb in (2, 4)
    ]
    report = airpath.stop()
    back = [r for r in report["roles"] if r["role"].startswith("gen")]
    assert len(back) == UES
    for gen in back:
        assert gen["sent"] >= PACKETS
        assert gen["good"] == gen["sent"], gen
        assert (gen["lost"], gen["corrupted"], gen["duplicated"]) == (0, 0, 0), gen
    assert all(bearer["delivered"] > 50 for bearer in sent)
    # A machine slower than t-PollRetransmit has AM send again what is on its way.
    assert [k for k in program.drops(report) if "sn_old" not in k] == []
