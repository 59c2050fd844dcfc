"""The trials: what `make test` does to a sample of the corpora and `python -m tests.exactness` to all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine import CompileOptions, LimitExceededError, Vocabulary, warm
from tests.exactness.acceptance import check_acceptance
from tests.exactness.brute_force import BruteForce
from tests.exactness.generation import check_generation
from tests.exactness.masks import compare_masks
from tests.exactness.outcome import Outcome
from tests.exactness.strings import check_strings
from tests.exactness.subjects import Subject


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is tried on each grammar.

    Attributes:
        seed: of all chance.
        walks: through a grammar, for masks.
        positions: of a walk at which the mask is compared.
        texts: that are written.
        mutants: instances that are made of those of the corpus.
        escapes: which escapes a schema's strings may have in `masks` and `generate`; `accept` tries both.
    """

    seed: int = 0
    walks: int = 1
    positions: int = 3
    texts: int = 2
    mutants: int = 8
    escapes: Literal["shortest", "any"] = "shortest"

    @property
    def options(self) -> CompileOptions:
        """Return the options of a compile."""
        return CompileOptions(escapes=self.escapes)


Trial = Callable[[Subject, "Bench", Effort], Outcome]


class Bench:
    """What trials share: a vocabulary and the kernels."""

    def __init__(self, tokenizer: Path) -> None:
        warm(wait=True)
        self.brute = BruteForce(Vocabulary.from_tokenizer(tokenizer))


def _masks(subject: Subject, bench: Bench, effort: Effort) -> Outcome:
    return compare_masks(
        subject,
        bench.brute,
        seed=effort.seed,
        walks=effort.walks,
        positions=effort.positions,
        options=effort.options,
    )


def _generate(subject: Subject, bench: Bench, effort: Effort) -> Outcome:
    return check_generation(
        subject, bench.brute.vocabulary, seed=effort.seed, texts=effort.texts, options=effort.options
    )


def _accept(subject: Subject, bench: Bench, effort: Effort) -> Outcome:
    return check_acceptance(subject, seed=effort.seed, mutants=effort.mutants)


TRIALS: dict[str, Trial] = {
    "masks": _masks,
    "generate": _generate,
    "accept": _accept,
    "any-order": lambda subject, bench, effort: check_strings(subject, "any"),
}


def try_on(name: str, subject: Subject, bench: Bench, effort: Effort) -> Outcome:
    """One trial on one grammar."""
    try:
        return TRIALS[name](subject, bench, effort)
    except LimitExceededError as error:
        return Outcome(limits=[f"{subject.corpus} {subject.id}: {error}"])
