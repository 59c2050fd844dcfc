"""Counts of what a generator compared, and every difference that it found."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Difference:
    """A text on which two judges differ, with all that is needed to try it again.

    Attributes:
        generator: the name of the generator in the registry.
        seed: the seed of the run.
        case: the number of the input; the generator makes the same input from the same seed and number.
        kind: what differs in one or two words, such as `false accept`, `false reject`, `completion` or `exception`.
        notation: the notation of the grammar.
        grammar: the source text of the grammar.
        text: the text that was judged.
        detail: who says what, and options of the compile that are not the defaults.
    """

    generator: str
    seed: int
    case: int
    kind: str
    notation: str
    grammar: str
    text: str | bytes
    detail: str


@dataclass(slots=True)
class Tally:
    """Collects the results of one generator.

    Attributes:
        generator: the name of the generator in the registry.
        seed: the seed of the run.
        case: the number of the input that is being tried.
        inputs: the number of grammars that were made.
        texts: the number of texts on which all judges agree.
        seconds: the processor time that was used.
        known: the number of texts on which the judges differ as they should, by reason.
        skipped: the number of texts or grammars that were not judged, by reason.
        differences: the unexplained differences.
        oracle_differences: texts on which two oracles differ, so that Turnstile was not judged.
    """

    generator: str
    seed: int = 0
    case: int = 0
    inputs: int = 0
    texts: int = 0
    seconds: float = 0.0
    known: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)
    oracle_differences: list[Difference] = field(default_factory=list)

    def agree(self, count: int = 1) -> None:
        """Count texts on which all judges agree."""
        self.texts += count

    def differ(self, kind: str, notation: str, grammar: str, text: str | bytes, detail: str = "") -> None:
        """Record a difference that nothing explains; the run fails."""
        self.differences.append(self._difference(kind, notation, grammar, text, detail))

    def differ_as_known(self, reason: str, count: int = 1) -> None:
        """Count texts on which the judges differ for a reason that is intended and stated."""
        self.texts += count
        self.known[reason] += count

    def oracles_differ(self, notation: str, grammar: str, text: str | bytes, detail: str) -> None:
        """Record a text on which the oracles contradict each other; it does not fail the run."""
        self.oracle_differences.append(self._difference("oracles", notation, grammar, text, detail))

    def skip(self, reason: str, count: int = 1) -> None:
        """Count inputs or texts that were not judged."""
        self.skipped[reason] += count

    def add(self, other: Tally) -> None:
        """Add the results of another run of the same generator."""
        self.inputs += other.inputs
        self.texts += other.texts
        self.seconds += other.seconds
        self.known += other.known
        self.skipped += other.skipped
        self.differences += other.differences
        self.oracle_differences += other.oracle_differences

    def _difference(self, kind: str, notation: str, grammar: str, text: str | bytes, detail: str) -> Difference:
        return Difference(self.generator, self.seed, self.case, kind, notation, grammar, text, detail)
