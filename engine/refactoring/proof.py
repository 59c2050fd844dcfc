"""The proof that two texts of a grammar have one language, as far as there is one; it loads no automata.

Automata decide it for regular languages and for most schemas (`engine.analysis.equivalence`). Elsewhere a rewrite may
be equal by construction, or all texts up to a length were compared. A text that only one side has refutes every claim:
what is equal by construction is compared, too, so that a mistake in a rewrite is found and not believed.
"""

from __future__ import annotations

from enum import StrEnum

from engine.analysis.language_comparison import LanguageComparison, Relation
from engine.source.catalogue import catalogue_text


class ProofKind(StrEnum):
    """What is known about the languages before and after a refactoring."""

    AUTOMATA = "automata"
    """Equal: the automata were compared."""
    CONSTRUCTION = "construction"
    """Equal by construction; a bounded comparison found no difference."""
    BOUNDED = "bounded"
    """No difference among all texts up to a length."""
    DIFFERENT = "different"
    """A text proves a difference."""

    @property
    def is_proof(self) -> bool:
        """Return whether the languages are equal for certain."""
        return self in {ProofKind.AUTOMATA, ProofKind.CONSTRUCTION}


def proof_of(comparison: LanguageComparison, *, keeps_language: bool) -> ProofKind:
    """Return what a comparison of the texts before and after proves.

    Args:
        comparison: the comparison; the first grammar is the one before.
        keeps_language: whether the refactoring keeps the language by construction.
    """
    if comparison.relation is Relation.EQUAL:
        return ProofKind.AUTOMATA
    if comparison.relation is not Relation.UNKNOWN:
        return ProofKind.DIFFERENT
    return ProofKind.CONSTRUCTION if keeps_language else ProofKind.BOUNDED


def proof_sentence(comparison: LanguageComparison, *, keeps_language: bool) -> str:
    """Return a sentence about what a comparison proves.

    Args:
        comparison: the comparison; the first grammar is the one before.
        keeps_language: whether the refactoring keeps the language by construction.
    """
    kind = proof_of(comparison, keeps_language=keeps_language)
    fields = {} if comparison.length is None or kind is ProofKind.DIFFERENT else {"length": comparison.length}
    return catalogue_text(f"refactoring.proof.{kind}", **fields)
