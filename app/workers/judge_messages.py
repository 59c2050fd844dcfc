"""Messages of the process that judges test strings."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.workers.compile_messages import CompileRequest
from engine.diagnosis.test_strings.values import Coverage, Suggestion, SuggestionKind
from engine.diagnosis.verdicts.verdict import Verdict


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """Judge texts, and compute their coverage of the grammar.

    Attributes:
        compiled: the grammar.
        texts: the test strings.
        counted: the indices of those that count for the coverage: the ones that should be accepted.
    """

    compiled: CompileRequest
    texts: tuple[str, ...]
    counted: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgeAnswer:
    """A verdict for each text, in their order, or one sentence that says why there is none.

    Attributes:
        revision: of the grammar.
        texts: what was judged.
        coverage: what the counted texts use of the grammar.
    """

    revision: int
    texts: tuple[str, ...]
    verdicts: tuple[Verdict, ...] = ()
    coverage: Coverage = field(default_factory=Coverage)
    error: str = ""


@dataclass(frozen=True, slots=True)
class CoverRequest:
    """Compute the coverage of a grammar by generated outputs, each as far as it is legal."""

    compiled: CompileRequest
    outputs: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class CoverAnswer:
    """The coverage of a grammar by generated outputs.

    Attributes:
        revision: of the grammar.
        coverage: by the outputs that have been followed.
        pending: the number of outputs left. Sending the same request again follows more of them; no answer takes long.
    """

    revision: int
    coverage: Coverage = field(default_factory=Coverage)
    pending: int = 0


@dataclass(frozen=True, slots=True)
class SuggestRequest:
    """Suggest texts of one kind that are not known yet; `seed` varies the random ones."""

    compiled: CompileRequest
    kind: SuggestionKind
    known: tuple[str, ...] = ()
    seed: int = 0


@dataclass(frozen=True, slots=True)
class SuggestAnswer:
    """Suggestions, or one sentence that says why there are none."""

    kind: SuggestionKind
    suggestions: tuple[Suggestion, ...] = ()
    error: str = ""
