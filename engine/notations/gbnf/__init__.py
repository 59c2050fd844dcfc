"""GBNF, the grammar notation of llama.cpp."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.notations.editing.edits import Change
from engine.notations.editing.names import Name
from engine.notations.notation import Notation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from engine.grammar import Grammar
    from engine.grammar.options import CompileOptions
    from engine.notations.editing.completion import Proposals
    from engine.notations.editing.expressions import ExpressionSyntax
    from engine.notations.explanation import ExplanationEntry
    from engine.notations.lexing import LineTokens
    from engine.notations.notation import FindingsReader
    from engine.notations.railroad import Railroad
    from engine.notations.reference import ReferenceGroup
    from engine.source import Diagnostic, SourceText

__all__ = ["Gbnf"]


class Gbnf(Notation):
    """Rules as llama.cpp reads them."""

    id = "gbnf"
    suffixes = (".gbnf",)
    has_named_rules = True

    @property
    def expressions(self) -> ExpressionSyntax:
        """Return the syntax of alternatives and items; see `Notation`."""
        from engine.notations.gbnf.expressions import GbnfExpressions

        return GbnfExpressions()

    def parse(self, text: SourceText, options: CompileOptions) -> tuple[Grammar, tuple[Diagnostic, ...]]:
        """Parse rules; see `Notation`."""
        from engine.notations.gbnf.parser import parse

        return parse(text, options.limits)

    def findings_reader(self) -> FindingsReader:
        """Return a reader that keeps the rules before and after an edit; see `Notation`."""
        from engine.notations.gbnf.resumed import EditedRules

        return EditedRules()

    def explanation_entries(self, text: SourceText, options: CompileOptions) -> Iterable[ExplanationEntry]:
        """Explain each rule; see `Notation`."""
        from engine.notations.gbnf.explanation import gbnf_entries

        return gbnf_entries(text, options.limits)

    def railroad(self, text: SourceText, options: CompileOptions) -> Railroad:
        """Return the railroad diagrams of the rules; see `Notation`."""
        from engine.notations.gbnf.explanation import gbnf_railroad

        return gbnf_railroad(text, options.limits)

    def reference(self, text: str, options: CompileOptions) -> tuple[ReferenceGroup, ...]:
        """Return the forms of GBNF; see `Notation`."""
        from engine.notations.gbnf.reference import gbnf_reference

        del text, options
        return gbnf_reference()

    def looks_like(self, text: str) -> bool:
        """Return whether a line of a text begins a rule whose name begins with a letter."""
        return any(name[0].isalpha() for name, _offset in self.rule_starts(text))

    def rule_starts(self, text: str) -> Iterator[tuple[str, int]]:
        """Yield the names and offsets of the rules; see `Notation`."""
        from engine.notations.gbnf.lexer import RULE_START

        return ((found[1], found.start(1)) for found in RULE_START.finditer(text))

    def names(self, text: str) -> tuple[Name, ...]:
        """Return the rules of a text; see `Notation`."""
        from engine.notations.gbnf.names import rule_names

        return rule_names(text)

    def _rename(self, text: str, name: Name, new: str) -> Change:
        from engine.notations.gbnf.names import rename_rule

        return rename_rule(text, name, new)

    def lex_line(self, line: str, state: int) -> LineTokens:
        """Return the tokens of a line; see `Notation`."""
        from engine.notations.gbnf.lexer import lex_line

        return lex_line(line, state)

    def propose(self, text: str, offset: int) -> Proposals:
        """Return the proposals at an offset; see `Notation`."""
        from engine.notations.gbnf.completion import propose

        return propose(text, offset)

    def format(self, text: str, options: CompileOptions) -> Change:
        """Format rules; see `Notation`."""
        from engine.notations.gbnf.formatting import format_text

        return format_text(text, options)
