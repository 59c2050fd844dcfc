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


SERVER = "http://127.0.0.1:8080"
OF_SERVER = MasksAnswer(
    CompareMasks(REQUEST.compiled, "turnstile", (SERVER,)),
    (MaskVerdict("llama-server", "b10132", "looser: llama-server b10132 allows more than turnstile", 187),),
    (
        MaskDifference(
            "llama-server",
            "llama-server allows what /properties/born/format forbids",
            True,
            prefix='{"born":"2024-02-',
            prefix_bytes="7b 22 62 6f 72 6e 22 3a 22 32 30 32 34 2d 30 32 2d",
            tokens="30 31",
            text='{"born":"2024-02-30"}',
            accepted_by="llama-server",
            prefixes=3,
        ),
    ),
    (EngineFigures("turnstile", 1.4, 2.2, 8.9, 2.4, 9.8), EngineFigures("llama-server", None, 18.4, 17_212.0)),
    49_152,
)


def engines(answer: MasksAnswer | None, found: EngineList = LISTED) -> QWidget:
    pane = EnginesPane()
    shown(pane, 1_180, 290)
    pane.show_engines(found)
    pane.show_servers((SERVER,) if answer is OF_SERVER else ())
    if answer is OF_SERVER:
        pane.second.setCurrentIndex(pane.second.findText(SERVER))
    if answer is not None:
        pane.show_answer(answer)
    return pane


STATES = {
    "engines-empty": lambda: engines(None),
    "engines-error": lambda: engines(MasksAnswer(REQUEST, error="Fix the grammar first")),
    "engines-none": lambda: engines(None, EngineList("regex", (), (("xgrammar", "xgrammar"),))),
    "engines-server": lambda: engines(OF_SERVER),
    "engines-typical": lambda: engines(ANSWER),
}
