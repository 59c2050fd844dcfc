"""The pane that compares engines, in its states."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.panes.engines.pane import EnginesPane
from app.workers.requests.compile import CompileRequest
from app.workers.requests.engines import (
    CompareMasks,
    EngineFigures,
    EngineList,
    MaskDifference,
    MasksAnswer,
    MaskVerdict,
)
from engine.compile import CompileOptions
from engine.source import Span
from tests.app.snapshots.making import shown

LISTED = EngineList(
    "json_schema", (("xgrammar", "0.2.8"), ("llguidance", "1.9.1")), (("outlines-core", "outlines-core"),)
)
REQUEST = CompareMasks(CompileRequest(1, "json_schema", "{}", CompileOptions()), "turnstile", ("xgrammar",))
ANSWER = MasksAnswer(
    REQUEST,
    (MaskVerdict("xgrammar", "0.2.8", "different: xgrammar 0.2.8 allows both more and less than turnstile", 1_204),),
    (
        MaskDifference(
            "xgrammar",
            "xgrammar does not enforce /properties/code/maxLength",
            True,
            prefix='{"code":"AAAA',
            prefix_bytes="7b 22 63 6f 64 65 22 3a 22 41 41 41 41",
            tokens="A B C D E F G H I J K",
            text='{"code":"AAAAA"}',
            accepted_by="xgrammar",
            span=Span(2, 9),
            prefixes=12,
        ),
        MaskDifference(
            "xgrammar",
            "/additionalProperties is absent, and xgrammar has another default for it",
            False,
            prefix='{"code":"A"',
            tokens=",",
            text='{"code":"A","":0}',
            accepted_by="turnstile",
            prefixes=3,
        ),
        MaskDifference("xgrammar", "Only the white space differs", True, is_form=True, prefix="{", tokens="␣ ⇥ ↵"),
    ),
    (
        EngineFigures("turnstile", 1.4, 1.9, 6.2, 2.1, 9.8),
        EngineFigures("xgrammar", 4.8, 5.6, 9.1, 3.3, 31.4),
    ),
)


def engines(answer: MasksAnswer | None, found: EngineList = LISTED) -> QWidget:
    pane = EnginesPane()
    shown(pane, 1_180, 290)
    pane.show_engines(found)
    if answer is not None:
        pane.show_answer(answer)
    return pane


STATES = {
    "engines-empty": lambda: engines(None),
    "engines-error": lambda: engines(MasksAnswer(REQUEST, error="Fix the grammar first")),
    "engines-none": lambda: engines(None, EngineList("regex", (), (("xgrammar", "xgrammar"),))),
    "engines-typical": lambda: engines(ANSWER),
}
