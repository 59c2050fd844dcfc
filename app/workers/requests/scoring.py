"""The request for the probabilities of a pasted output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.workers.protocol import WorkerRequest
from engine.decoding.values import AttributedWord

if TYPE_CHECKING:
    from app.workers.requests.compile import CompileRequest
    from app.workers.requests.decode import ReplayQuestion


@dataclass(frozen=True, slots=True)
class AttributePrompt(WorkerRequest["AttributionAnswer"]):
    """Find out which words of the prompt make the model want a token at the position of the session."""

    token_id: int


@dataclass(frozen=True, slots=True)
class AttributionAnswer:
    """The words of the prompt with what is known of them so far.

    Attributes:
        token: the token as displayed text.
        step: the number of tokens before it.
        words: the words, in the order of the prompt.
        done: whether this is the last answer.
    """

    token: str
    step: int
    words: tuple[AttributedWord, ...]
    done: bool = False


@dataclass(frozen=True, slots=True)
class ScoreOutput(WorkerRequest["ScoreAnswer"]):
    """Score a pasted output under the loaded model, or by the log-probabilities of its response.

    Attributes:
        prompt: what the model reads first; empty for the prompt of the request, or else that of the session.
        by_response: whether the log-probabilities of the response are used in place of the model.
    """

    compiled: CompileRequest
    question: ReplayQuestion
    prompt: str = ""
    by_response: bool = False


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """The score of one token.

    Attributes:
        start, end: its bytes in the scored text.
        place: its line and column.
        token: its text, with invisible characters marked.
        p: its probability before the mask; None if unknown.
        mass: the allowed mass, or its bounds; empty if unknown.
        rank: 1 for the most probable token; None if unknown.
        wanted: the most probable token with its probability; empty if it is the token itself.
        is_allowed: whether the grammar allows it; None if it says nothing there.
    """

    start: int
    end: int
    place: str
    token: str
    p: float | None
    mass: str
    rank: int | None
    wanted: str
    is_allowed: bool | None


@dataclass(frozen=True, slots=True)
class ScoreAnswer:
    """The scores of an output, or the sentence that says why there are none.

    Attributes:
        scored: the text that was scored: the output, or the arguments of a tool call.
        worst: the index of the least probable token; None if no probability is known.
        notes: what is known about the keys, one sentence each.
        left_out: the number of tokens beyond the model's context.
        model: the name of the model; empty for the log-probabilities of a response.
        error: a sentence; empty if there are scores.
    """

    request: ScoreOutput
    scored: bytes = b""
    rows: tuple[ScoreRow, ...] = ()
    worst: int | None = None
    notes: tuple[str, ...] = ()
    left_out: int = 0
    model: str = ""
    error: str = ""
