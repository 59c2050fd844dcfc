"""The panes that compare engines and strategies, in their states."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.catalogue import ui_text
from app.panes.engines.pane import EnginesPane
from app.panes.strategies.pane import StrategiesPane
from app.workers.requests.compile import CompileRequest
from app.workers.requests.engines import (
    CompareMasks,
    EngineFigures,
    EngineList,
    MaskDifference,
    MasksAnswer,
    MaskVerdict,
)
from app.workers.requests.strategies import ComparedText, StrategiesComparison, StrategyFigures
from engine.compile import CompileOptions
from engine.source import Span
from tests.app.snapshots.making import settled, shown

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


OVERVIEW = StrategiesComparison(
    (
        StrategyFigures("local", 0.405, 0.345, is_of_strategy=True, p_grammar=0.0014, tries=50, accepted=50, calls=37),
        StrategyFigures("rejection", why_not="None of 50 texts matched"),
        StrategyFigures("cars", 0.031, 0.05, p_grammar=0.0013, tries=92, accepted=50, calls=37, seconds=0.8),
    ),
    (
        ComparedText(b"11111", (1, 1, 1, 1, 1, 2), 0.56, (0.33, 0.0, 0.55)),
        ComparedText(b"00000", (0, 0, 0, 0, 0, 2), 0.01, (0.063, 0.0, 0.0)),
    ),
    2,
    0.00132,
    done=True,
)


def strategy_overview(answer: StrategiesComparison | None, why: str = "") -> QWidget:
    """The comparison of strategies: before it, with its figures, or with the reason against it."""
    made = StrategiesPane()
    made.comparison.set_refusal(why)
    if answer is not None:
        made.comparison.begin()
        made.comparison.show_answer(answer)
    return settled(shown(made, 1280, 240))


STATES = {
    "strategy-overview-empty": lambda: strategy_overview(None),
    "strategy-overview-error": lambda: strategy_overview(None, ui_text("session.refusal.no_model")),
    "strategy-overview-typical": lambda: strategy_overview(OVERVIEW),
    "engines-empty": lambda: engines(None),
    "engines-error": lambda: engines(MasksAnswer(REQUEST, error="Fix the grammar first")),
    "engines-none": lambda: engines(None, EngineList("regex", (), (("xgrammar", "xgrammar"),))),
    "engines-server": lambda: engines(OF_SERVER),
    "engines-typical": lambda: engines(ANSWER),
}
