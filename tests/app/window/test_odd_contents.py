"""Contents that have the right types and make no sense: the window shows them, and raises nothing."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from decode_views import trace
from PySide6.QtWidgets import QMenu

from app.document import DocumentFile, GrammarPart, ModelPart
from app.settings import Preferences
from engine.decoding.debugging.breakpoints import Breakpoint, BreakpointKind
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.values import ArchivedBranch, Chat, SamplerSettings, TraceNode
from engine.document.codec import decode, encode
from engine.document.content import MOST_TOKENS, AutomatonPart, ExpectedText

HUGE = 2**62
DIGITS = b"9" * 5_000  # more than Python makes an integer of
LINES = "a\nb\0c\u2028\U0010ffff" * 50
STEP = trace((b"a",)).nodes[0].step


def changed(**fields):
    """A trace of one step with other values."""
    node = TraceNode(0, None, replace(STEP, **fields))
    return replace(trace((b"a",)), nodes=(node,))


CONTENTS = {
    "budget": DocumentFile(max_tokens=MOST_TOKENS),
    "sampler": DocumentFile(sampler=SamplerSettings(seed=HUGE, top_k=HUGE, temperature=1e308)),
    "names": DocumentFile(title=LINES, model=ModelPart(LINES, LINES), grammar=GrammarPart("regex", LINES)),
    "prompt": DocumentFile(prompt=Chat(((LINES, LINES), ("nobody", "x")), LINES)),
    "token id": DocumentFile(trace=changed(token_id=-HUGE, wanted_id=HUGE, configuration=-1)),
    "token": DocumentFile(trace=changed(token=None, name=LINES)),
    "numbers": DocumentFile(
        trace=changed(p=-1e308, z=1e308, allowed=-HUGE, mask_us=1e308, logits_ms=-1.0, entropy=1e308)
    ),
    "branch": DocumentFile(archived=(ArchivedBranch(LINES, LINES, (replace(STEP, token=None),) * 3),) * 20),
    "automaton": DocumentFile(automaton=AutomatonPart(rule=LINES, tokens=True, draws_all=True, method="dot")),
    "tests": DocumentFile(test_strings=(ExpectedText(LINES), ExpectedText(""))),
    "stages": DocumentFile(pipeline=PipelineSettings(suppress=(LINES,))),
    "breakpoint": DocumentFile(breakpoints=(Breakpoint(BreakpointKind.RULE, LINES, HUGE, HUGE, LINES),) * 3),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_odd_contents_are_shown(desk, name):
    content = decode(encode(CONTENTS[name]), name)
    desk.session.start()
    desk.document.replace(content)
    desk.qtbot.turns()  # the compile is asked for with the next turn
    desk.wait(lambda: not desk.session.worker_pool.compile.pending)
    for command in ("view.tests", "view.timeline", "view.breakpoints"):
        desk.window.commands[command].trigger()
    desk.qtbot.turns()
    desk.document.replace(DocumentFile(grammar=GrammarPart("regex", "ab"), model=ModelPart("letters")))
    desk.wait(lambda: not desk.session.step_refusal)


PREFERENCES = {
    "geometry": Preferences(geometry=bytes(range(256)) * 9, splitters={"wide": b"\xff" * 99, "narrow": b""}),
    "places": Preferences(
        splitters={"bottom": b"9 9 " + DIGITS, "generation": DIGITS, "editor pages": b"x\n" + DIGITS},
    ),
    "recent": Preferences(recent=["\0", "x" * 100_000, "", "/", LINES]),
    "names": Preferences(model="\0", chip_colours=LINES),
}


@pytest.mark.parametrize("name", PREFERENCES)
def test_odd_preferences_open_a_window(workers, qtbot, tmp_path, qapp, name, request):
    from tests.app.window.conftest import Desk

    (tmp_path / "preferences.json").write_bytes(msgspec.json.encode(PREFERENCES[name]))
    desk = Desk(qtbot, tmp_path, qapp)
    request.addfinalizer(desk.close)
    desk.window.begin()
    menu = QMenu(desk.window)
    desk.window.files.fill_recent(menu)
    for action in menu.actions():
        action.trigger()
    assert desk.window.isVisible()
