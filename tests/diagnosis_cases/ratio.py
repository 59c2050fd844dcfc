"""The ratio of right diagnoses: of wrong outputs by cause, detail and pointer, of right ones by `complete`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from tests.diagnosis_cases.wrong_outputs import WrongOutput


@dataclass(frozen=True)
class Answer:
    """Hold the answer of a diagnosis.

    Attributes:
        cause: the id of the headline's cause.
        detail: its detail; None or empty if there is none.
        pointers: the JSON Pointers of the places that it names.
    """

    cause: str
    detail: str | None = None
    pointers: tuple[str, ...] = ()


class Judge(Protocol):
    """A diagnosis. It receives what a user has, and no label."""

    def __call__(self, notation: str, grammar: str, output: str, finish: str | None, budget: int | None) -> Answer: ...


@dataclass(frozen=True)
class Score:
    """The result of a judge on cases.

    Attributes:
        cases: all cases.
        failures: the cases that were answered wrongly, with the answers.
    """

    cases: tuple[WrongOutput, ...]
    failures: tuple[tuple[WrongOutput, Answer], ...]

    @property
    def ratio(self) -> float:
        return 1 - len(self.failures) / len(self.cases)

    def __str__(self) -> str:
        """Return one line for each kind with failures, and one for each failure."""
        totals = Counter(case.kind for case in self.cases)
        failed = Counter(case.kind for case, _ in self.failures)
        lines = [f"{len(self.cases) - len(self.failures)} of {len(self.cases)} right"]
        lines += [f"{kind}: {failed[kind]} of {totals[kind]} wrong" for kind in failed]
        for case, answer in self.failures:
            expected = f"{' or '.join(case.causes)}, {case.detail}, {case.pointer}"
            lines.append(f"{case.name}: expected {expected}; got {answer.cause}, {answer.detail}, {answer.pointers}")
        return "\n".join(lines)


def is_right(case: WrongOutput, answer: Answer) -> bool:
    """Return whether an answer has an acceptable cause, the detail, and the pointer or one of a part of the keyword."""
    return (
        answer.cause in case.causes
        and case.detail in (None, answer.detail)
        and (case.pointer is None or any(f"{pointer}/".startswith(f"{case.pointer}/") for pointer in answer.pointers))
    )


def score(cases: Iterable[WrongOutput], judge: Judge) -> Score:
    """Judge the wrong outputs."""
    cases = tuple(cases)
    answers = [judge(case.notation, case.grammar, case.wrong, case.finish, case.budget) for case in cases]
    pairs = zip(cases, answers, strict=True)
    return Score(cases, tuple((case, answer) for case, answer in pairs if not is_right(case, answer)))


def wrong_headlines(cases: Iterable[WrongOutput], judge: Judge) -> list[tuple[str, Answer]]:
    """Judge the right outputs; return the name of each whose cause is not `complete`, with the answer."""
    answers = ((case.name, judge(case.notation, case.grammar, case.right, "stop", None)) for case in cases)
    return [(name, answer) for name, answer in answers if answer.cause != "complete"]
