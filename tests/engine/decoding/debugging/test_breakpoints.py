from dataclasses import replace

import pytest

from engine.decoding.debugging.breakpoints import (
    Breakpoint,
    BreakpointKind,
    RuleEvents,
    entered,
    reached_states,
    toggled,
)
from engine.source import Span

NUM = Breakpoint(BreakpointKind.RULE, "num")
PLACE = Breakpoint(BreakpointKind.POSITION, offset=4)
STATE = Breakpoint(BreakpointKind.STATE, "expr", 2)
ALL = (NUM, PLACE, STATE)


def test_a_breakpoint_is_toggled_by_what_it_is_on():
    assert toggled((), NUM) == (NUM,)
    assert toggled(ALL, Breakpoint(BreakpointKind.RULE, "num", label="other", enabled=False)) == (PLACE, STATE)
    assert toggled(ALL, Breakpoint(BreakpointKind.STATE, "", 2)) == (*ALL, Breakpoint(BreakpointKind.STATE, "", 2))
    assert not NUM.is_same(Breakpoint(BreakpointKind.STATE, "num"))
    assert PLACE.is_same(Breakpoint(BreakpointKind.POSITION, "num", offset=4))


@pytest.mark.parametrize(
    ("passage", "states", "found"),
    [
        (RuleEvents(), (), ()),
        (RuleEvents(entered=("expr", "num")), (), (NUM,)),
        (RuleEvents(open=("num",), left=("num",)), (), ()),
        (RuleEvents(read=(Span(2, 5),)), (), (PLACE,)),
        (RuleEvents(read=(Span(2, 4),)), (), ()),
        (RuleEvents(), {("expr", 2)}, (STATE,)),
        (RuleEvents(entered=("num",), read=(Span(4, 5),)), {("", 2)}, (NUM, PLACE)),
    ],
)
def test_what_a_step_meets(passage, states, found):
    assert entered(ALL, passage) + reached_states(ALL, states) == found


def test_one_that_is_off_stops_nothing():
    off = Breakpoint(BreakpointKind.RULE, "num", enabled=False)
    assert entered((off,), RuleEvents(entered=("num",))) == ()
    assert reached_states((replace(STATE, enabled=False),), {("expr", 2)}) == ()
