# SPDX-License-Identifier: BSD-3-Clause
"""Load and overload control, TS 29.244 §6.2.3, §6.2.4: of a forwarding unit that fills."""

import time
from dataclasses import dataclass, field

from harness import pfcp, vitals
from harness import pfcp_ies as ies
from harness.upf import pdu_session
from scapy.contrib import pfcp as p

NO_RESOURCES = 75
SESSIONS = 10  # there is room for
METRICS = "127.0.0.7:9100"


@dataclass
class Heard:
    """What answers say of load, and of overload."""

    loads: list[tuple[int, int]] = field(default_factory=list)  # Sequence Number, metric
    overloads: list[tuple[int, int, int, int]] = field(default_factory=list)
    # Sequence Number, reduction, validity in s, AOCI

    def hear(self, response) -> None:
        found = ies.one_of(response, p.IE_LoadControlInformation)
        if found is not None:
            metric = ies.one_of(found, p.IE_Metric).metric
            assert 0 <= metric <= 100
            self.loads.append((ies.one_of(found, p.IE_SequenceNumber).number, metric))
        found = ies.one_of(response, p.IE_OverloadControlInformation)
        if found is None:
            return
        timer = ies.one_of(found, p.IE_Timer)
        assert timer.timer_unit == 0, "multiples of 2 s"
        number = ies.one_of(found, p.IE_SequenceNumber).number
        metric = ies.one_of(found, p.IE_Metric).metric
        aoci = ies.one_of(found, p.IE_OCIFlags).AOCI
        self.overloads.append((number, metric, 2 * timer.timer_value, aoci))

    def until(self, session, said) -> None:
        """Asks until it was said."""
        give_up = time.monotonic() + 60
        while not said(self):
            assert time.monotonic() < give_up, self
            time.sleep(0.2)
            self.hear(session.modify())

    @property
    def load(self) -> int:
        return self.loads[-1][1] if self.loads else -1

    @property
    def reduction(self) -> int:
        return self.overloads[-1][1] if self.overloads else -1


def test_load_and_overload(make_upf):
    """An SMF that supports it is told the load as it changes, and asked to hold back from 90 % on
    until it is over; one that does not is told nothing."""
    upf = make_upf(sessions=SESSIONS, metrics=METRICS)
    smf, plain = upf.smf(), upf.smf()
    smf.associate(p.IE_CPFunctionFeatures(LOAD=1, OVRL=1))
    plain.associate()
    heard, silence = Heard(), Heard()
    other = pdu_session(plain)
    sessions = [pdu_session(smf) for _ in range(SESSIONS // 2 - 1)]
    heard.hear(sessions[-1].response)
    heard.until(sessions[0], lambda h: h.load >= 50)
    while len(sessions) < SESSIONS - 1:
        sessions.append(pdu_session(smf))
        heard.hear(sessions[-1].response)
    heard.until(sessions[0], lambda h: h.load == 100 and h.reduction == 50)
    _, refused = smf.establish_raw(*RULES)
    assert pfcp.cause(refused) == NO_RESOURCES
    heard.hear(refused)
    for response in (other.response, other.modify(), other.modify()):
        silence.hear(response)
    assert vitals.metrics(upf)["airpath_n4_load_percent"] == 100

    heard.hear(other.delete())  # says nothing
    for session in sessions[1:]:
        heard.hear(session.delete())
    heard.until(sessions[0], lambda h: h.reduction == 0)
    assert vitals.metrics(upf)["airpath_n4_overload_reduction_percent"] == 0
    for numbers in ([n for n, _ in heard.loads], [n for n, _, _, _ in heard.overloads]):
        assert numbers == sorted(set(numbers)), "a number rises with each change"
    for _, reduction, validity, aoci in heard.overloads:
        assert (validity, aoci) == (60 if reduction else 0, 1)
    assert silence == Heard()


def test_load_of_the_smf_is_ignored(smf):
    """§7.6.9: a CP function has no Load Control Information to give; where it does, it is passed
    over."""
    number, metric = p.IE_SequenceNumber(number=1), p.IE_Metric(metric=99)
    session = pdu_session(smf, p.IE_LoadControlInformation(IE_list=[number, metric]))
    timer = p.IE_Timer(timer_unit=0, timer_value=30)
    overload = p.IE_OverloadControlInformation(IE_list=[number, metric, timer])
    session.modify(ies.far(2, "DROP", update=True), overload)
    session.delete()


RULES = [
    ies.pdr(1, ies.pdi(ies.ACCESS, ies.choose()), far=1, precedence=1),
    ies.far(1, "DROP"),
]
