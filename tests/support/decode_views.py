"""Decode views made by hand, for the tests of what shows them."""

from __future__ import annotations

from dataclasses import replace

from app.workers.requests.decode import DecodeView, ModelSummary, WhyAnswer
from app.workers.requests.forced import ForcedAnswer, RunRow, TokenRunRow
from engine.decoding.values import (
    Bounds,
    Candidate,
    EosState,
    Finish,
    Position,
    StageEffect,
    Step,
    Trace,
    TraceNode,
    Unknown,
)
from engine.matching.explanation import Explanation, Reason
from engine.source import Span

MODEL = ModelSummary("A model", "model", 1000, True, True, 512, "", "")


def candidate(
    token_id: int,
    token: bytes | None,
    p: float,
    *,
    allowed: bool = True,
    z: float = 0.5,
    rank: int = 1,
    name: str = "",
    is_eos: bool = False,
) -> Candidate:
    masked = p / z if allowed else 0.0
    return Candidate(token_id, token, name, rank, p, masked, masked, allowed, is_eos)


CANDIDATES = (
    candidate(10, b"Sure", 0.4, allowed=False, rank=1),
    candidate(11, b"{", 0.3, rank=2),
    candidate(12, b" {", 0.2, rank=3),
    candidate(13, b"\n", 0.05, allowed=False, rank=4),
    candidate(0, None, 0.001, allowed=False, rank=90, name="<|end|>", is_eos=True),
)

WHY = WhyAnswer(
    10,
    Explanation(Reason.DEAD_BYTE, b"Sure", 0, ((0x7B, 0x7B),), (Span(2, 4),)),
    "`Sure` is not allowed here: it begins with `S`. Expected here: `{`.",
)

STAGES = (
    StageEffect("mask", 998, 2, 0.5, 0.5),
    StageEffect("temperature", 0, 2, 0.0, 0.1),
    StageEffect("top-k", 1, 1, 0.25, 0.25),
)


def position(
    candidates: tuple[Candidate, ...] = CANDIDATES,
    *,
    finish: Finish | None = None,
    accepting: bool = False,
    forced: bool = False,
    allowed: int = 2,
    z: float = 0.5,
    kl: float = 0.693,
    eos: EosState = EosState.NOT_YET,
    output: bytes = b"",
    forced_bytes: bytes = b"",
    size: int = 1000,
) -> Position:
    return Position(
        output=output,
        index=0,
        configuration=1,
        allowed=allowed,
        vocabulary_size=size,
        z=z,
        kl=kl,
        forced=forced,
        forced_bytes=forced_bytes,
        eos=eos,
        accepting=accepting,
        finish=finish,
        wanted=candidates[0] if candidates else None,
        candidates=candidates,
        mask_us=1.0,
        logits_ms=2.0,
        entropy=1.5,
        entropy_masked=0.75,
        stages=STAGES,
    )


PARTIAL_CANDIDATES = (
    Candidate(10, b"Sure", "", 1, 0.4, 0.0, 0.0, False, False),
    Candidate(11, b"{", "", 2, 0.3, None, None, True, False, 0.1, Bounds(0.6, 0.75)),
    Candidate(12, b" {", "", None, None, None, None, True, False, 0.1, Bounds(0.0, 0.25)),
    Candidate(0, None, "<|end|>", None, None, 0.0, 0.0, False, True, 0.1),
)
"""Of a source that returns its best tokens only."""


def partial_position() -> Position:
    unknown = Unknown(20, 980, 20, Bounds(0.3, 0.3), 0.1, Bounds(0.4, 0.5), Bounds(1.25, 2.5), "top-p", False)
    stages = (StageEffect("mask", None, None, None, None),)
    shown = replace(position(PARTIAL_CANDIDATES), z=None, kl=None, entropy=None, entropy_masked=None, stages=stages)
    return replace(shown, unknown=unknown)


def step(token: bytes, *, p: float = 0.5, forced: bool = False, by: str = "sampler") -> Step:
    return Step(token[0], token, "", p, p, 0.5, 1 if forced else 3, forced, token[0], by, 1)


def trace(
    tokens: tuple[bytes, ...],
    *,
    current: int | None = None,
    illegal: tuple[int, ...] = (),
    forced: tuple[int, ...] = (),
) -> Trace:
    """One path; the ids of its steps count up from 0, and the last one is current by default."""
    nodes = tuple(TraceNode(i, i - 1 if i else None, step(token, forced=i in forced)) for i, token in enumerate(tokens))
    path = tuple(range(len(tokens)))
    return Trace(nodes, path, path[-1] if current is None and path else current, frozenset(illegal))


def view(shown: Trace | None = None, at: Position | None = None) -> DecodeView:
    return DecodeView(MODEL, trace(()) if shown is None else shown, position() if at is None else at)


FORCED_RUNS = (
    RunRow(0, 9, b"", b'{"name":"', 36, ('{"', "name", '":"')),
    RunRow(10, 24, b'{"name":"J', b'ohn","age":', 48, ()),
)
FORCED = ForcedAnswer(1, FORCED_RUNS, (TokenRunRow(25, ("0", "}")),), (28, 5), (28, 5))
