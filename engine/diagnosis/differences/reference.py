"""Our own reading of the grammar, by which a difference is explained: is a text legal, and in which form?

Engines choose among the forms that JSON has for a value: white space, escapes, forms of numbers, and the order of
properties. So the grammar is compiled in the plainest forms and with every combination of others that a text needs.
What no combination makes legal, the grammar forbids.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any, Final

from engine.automata.byte_automaton import DEAD
from engine.compile import CompiledGrammar, CompileOptions, compile_grammar
from engine.diagnosis.differences.values import FORMS, CauseKind
from engine.notations.json_schema.json_tree import pointers
from engine.source import CancelToken, LimitExceededError

Forms = frozenset[CauseKind]
_CHANGES: Final[dict[CauseKind, dict[str, Any]]] = {
    CauseKind.WHITESPACE: {"whitespace": "any"},
    CauseKind.ESCAPES: {"escapes": "any"},
    CauseKind.NUMBERS: {"numbers": "any"},
    CauseKind.ORDER: {"property_order": "any"},
}
_EFFORT: Final = 2_000


class Reference:
    """A grammar in every form.

    Args:
        notation: the id of the notation.
        source: the grammar.
        options: the compile options; those of forms are replaced.
        cancel: cancels a compile.

    Raises:
        GrammarError: the grammar does not compile.
    """

    def __init__(self, notation: str, source: str, options: CompileOptions, cancel: CancelToken) -> None:
        self.notation, self.source, self.cancel = notation, source, cancel
        self._options = replace(
            options, whitespace="compact", escapes="shortest", numbers="plain", property_order="declared"
        )
        self._compiled: dict[Forms, CompiledGrammar] = {}
        self.plain = self.grammar(frozenset())

    @property
    def all_forms(self) -> Forms:
        """Return the forms that texts of the notation may have beside the plainest."""
        return frozenset(FORMS) if self.plain.describes_json else frozenset()

    def options(self, forms: Forms) -> CompileOptions:
        """Return the compile options that allow some forms beside the plainest."""
        return replace(self._options, **{name: value for form in forms for name, value in _CHANGES[form].items()})

    def grammar(self, forms: Forms) -> CompiledGrammar:
        """Return the grammar with some forms allowed beside the plainest."""
        if forms not in self._compiled:
            options = self.options(forms)
            self._compiled[forms] = compile_grammar(self.notation, self.source, options, cancel=self.cancel)
        return self._compiled[forms]

    @property
    def lenient(self) -> CompiledGrammar:
        """Return the grammar with all forms."""
        return self.grammar(self.all_forms)

    def forms_of(self, data: bytes, *, is_whole: bool = False) -> Forms | None:
        """Return the fewest forms with which a text is legal; None if none make it legal.

        Args:
            data: the text.
            is_whole: whether it must be complete; otherwise the beginning of a legal text is legal.

        Raises:
            LimitExceededError: a step exceeded a limit.
        """
        every = self.all_forms
        if not allows(self.lenient, data, is_whole=is_whole):
            return None
        return next(forms for forms in _subsets(every) if allows(self.grammar(forms), data, is_whole=is_whole))

    def completed(self, data: bytes, forms: Forms) -> bytes | None:
        """Return the shortest legal text that begins with another; None if it is not found."""
        return completed(self.grammar(forms), data, self.cancel)

    def pointers_at(self, data: bytes) -> tuple[str, ...]:
        """Return the JSON Pointers of the parts of the schema that decide what follows a text."""
        automaton = self.lenient.automaton
        at = automaton.run(automaton.start, data)
        return pointers(self.lenient.source, automaton.spans(at)) if at != DEAD else ()


def allows(grammar: CompiledGrammar, data: bytes, *, is_whole: bool = False) -> bool:
    """Return whether a text is the beginning of a legal one, or legal itself.

    Args:
        grammar: the grammar.
        data: the text.
        is_whole: whether it must be legal itself.
    """
    at = grammar.automaton.run(grammar.automaton.start, data)
    return at != DEAD and (not is_whole or grammar.automaton.accepts(at))


def completed(grammar: CompiledGrammar, data: bytes, cancel: CancelToken) -> bytes | None:
    """Return the shortest text of a grammar that begins with another; None if it is not found.

    Args:
        grammar: the grammar.
        data: the beginning.
        cancel: cancels the search.
    """
    automaton = grammar.automaton
    try:
        at = automaton.run(automaton.start, data)
        found = None if at == DEAD else automaton.shortest_completion(at, _EFFORT, cancel).text
    except LimitExceededError:
        return None
    return None if found is None else data + found


def _subsets(forms: Forms) -> Iterator[Forms]:
    ordered = [form for form in reversed(FORMS) if form in forms]
    for size in range(len(ordered) + 1):
        for chosen in combinations(ordered, size):
            yield frozenset(chosen)
