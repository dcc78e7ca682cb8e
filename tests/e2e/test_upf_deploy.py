# SPDX-License-Identifier: BSD-3-Clause
"""deploy/upf.yaml and deploy/n4.yaml, as they are, make a UPF together."""

import subprocess

from harness import pfcp, traffic
from harness import pfcp_ies as ies
from harness.agent import AGENT
from harness.capture import Capture, judge
from harness.program import ROOT, Airpath
from harness.wait import until

N3, N6, N4 = "192.168.3.1", "192.168.6.1", "127.0.0.8"


def copied(folder, name: str):
    """A deployment file whose paths lead into the test's folder."""
    text = (ROOT / "deploy" / name).read_text()
    for path in ("/run/airpath", "/var/lib/airpath"):
        text = text.replace(path, str(folder))
    file = folder / name
    file.write_text(text)
    return file


def test_upf_and_agent(net, tmp_path):
    up, gnb, inet = (net.add(name) for name in ("up", "gnb", "inet"))
    net.veth(gnb, "gnb0", "02:00:00:00:03:02", up, "n3", "02:00:00:00:03:01")
    net.veth(inet, "inet0", "02:00:00:00:06:02", up, "n6", "02:00:00:00:06:01")
    for interface in ("n3", "n6"):
        net.mute(up, interface)
    net.address(gnb, "gnb0", "192.168.3.2/24")
    net.address(inet, "inet0", "192.168.6.254/24")
    airpath = Airpath(net, up, copied(tmp_path, "upf.yaml"))
    log = (tmp_path / "agent.log").open("w")
    agent = net.popen(
        up, [str(AGENT), "run", "-c", str(copied(tmp_path, "n4.yaml"))], stdout=log, stderr=log
    )
    capture = Capture(tmp_path / "n4.pcap")
    smf = pfcp.Smf(up, capture, upf=(N4, pfcp.PORT))
    said = tmp_path / "agent.log"
    until(lambda: "workers" in said.read_text(), seen=said.read_text)
    smf.associate()
    session = smf.establish(
        ies.pdr(1, ies.pdi(ies.ACCESS, ies.choose()), far=1, precedence=1, removal=6),
        ies.pdr(
            2,
            ies.pdi(
                ies.CORE,
                ies.network_instance("internet"),
                ies.choose_ue_ip(v4=True, v6=True, destination=True),
            ),
            far=2,
            precedence=1,
        ),
        ies.far(1, "FORW", to=ies.CORE, instance="internet"),
        ies.far(2, "FORW", to=ies.ACCESS, out=(7, "192.168.3.2")),
    )
    assert session.tunnels[1][1] == N3
    assert session.ue[2][0].startswith("10.45.")
    for ns, own in ((gnb, N3), (inet, N6)):
        sent, answered = traffic.ping(ns, own, size=56, count=2)
        assert answered == sent
    session.delete()
    smf.close()
    capture.close()
    agent.terminate()
    assert agent.wait(10) == 0
    airpath.stop()
    assert judge(capture.path, "pfcp")[1] == []


def test_the_agent_finds_its_file_sound(tmp_path):
    done = subprocess.run(
        [AGENT, "check", ROOT / "deploy" / "n4.yaml"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "sound" in done.stdout
