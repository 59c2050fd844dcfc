"""Regular expressions: from text to grammar nodes and findings.

The `python` dialect differs from CPython's `re` where the language matters rather than the matcher:

- a lookbehind may have any width, since it is regular;
- `\\B` matches the empty text, as documented and as `re` does since 3.14;
- `(?a)` restricts `(?i)` to ASCII everywhere; `re` does not in ranges beyond U+FFFF;
- possessive and atomic forms are accepted where they define a set of strings (see `atomic`), backreferences and
conditionals are refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from engine.notations.editing.edits import Change
from engine.notations.notation import Notation, NotationVariant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engine.grammar import Grammar
    from engine.grammar.options import CompileOptions
    from engine.notations.editing.completion import Proposals
    from engine.notations.editing.expressions import ExpressionSyntax
    from engine.notations.explanation import ExplanationEntry
    from engine.notations.lexing import LineTokens
    from engine.notations.notation import GroupLabel
    from engine.notations.railroad import Railroad
    from engine.notations.reference import ReferenceGroup
    from engine.source import Diagnostic, SourceText, Span

__all__ = ["Regex"]

_VERBOSE: Final = re.compile(r"\s*\(\?[a-wyzA-Z]*x")
_LIKELY: Final = re.compile(r"\\[dwsbDWSB]|\[\^?[^\]\"\s]+\][*+?{]|\{\d+(?:,\d*)?\}|\(\?[:=!P<]")


class Regex(Notation):
    """Regular expressions, in the dialects of Python's `re` and of ECMAScript."""

    id = "regex"
    option_names = ("dialect",)
    suffixes = (".regex", ".re", ".txt")
    ends_with_line = False  # editors add a line end, which would be matched
    is_expression = True
    wraps_anywhere = True

    @property
    def variants(self) -> tuple[NotationVariant, ...]:
        """Return the dialects."""
        return (
            NotationVariant("regex_python", {"dialect": "python"}),
            NotationVariant("regex_ecma", {"dialect": "ecma"}),
        )

    @property
    def expressions(self) -> ExpressionSyntax:
        """Return the syntax of alternatives and items; see `Notation`."""
        from engine.notations.regex.expressions import RegexExpressions

        return RegexExpressions()

    def parse(self, text: SourceText, options: CompileOptions) -> tuple[Grammar, tuple[Diagnostic, ...]]:
        """Parse an expression; see `Notation`."""
        from engine.grammar import Grammar, Rule
        from engine.notations.regex.dialect import Dialect
        from engine.notations.regex.parser import parse

        node, diagnostics = parse(text, Dialect(options.dialect), options.limits)
        return Grammar((Rule("root", node, node.span),), "root"), diagnostics

    def parse_with_groups(
        self, text: SourceText, options: CompileOptions
    ) -> tuple[Grammar, Mapping[int, Sequence[GroupLabel]]]:
        """Parse an expression with its capture groups; see `Notation`."""
        from engine.grammar import Grammar, Rule
        from engine.notations.regex.dialect import Dialect
        from engine.notations.regex.explanation import capture_groups

        node, groups = capture_groups(text, Dialect(options.dialect), options.limits)
        return Grammar((Rule("root", node, node.span),), "root"), groups

    def explanation_entries(self, text: SourceText, options: CompileOptions) -> Iterable[ExplanationEntry]:
        """Explain an expression, from left to right; see `Notation`."""
        from engine.notations.regex.dialect import Dialect
        from engine.notations.regex.explanation import regex_entries

        return regex_entries(text, Dialect(options.dialect), options.limits)

    def railroad(self, text: SourceText, options: CompileOptions) -> Railroad:
        """Return the railroad diagrams of an expression; see `Notation`."""
        from engine.notations.regex.dialect import Dialect
        from engine.notations.regex.explanation import regex_railroad

        return regex_railroad(text, Dialect(options.dialect), options.limits)

    def reference(self, text: str, options: CompileOptions) -> tuple[ReferenceGroup, ...]:
        """Return the forms of the dialect; see `Notation`."""
        from engine.notations.regex.reference import regex_reference

        del text
        return regex_reference(options.dialect)

    def looks_like(self, text: str) -> bool:
        """Return whether a text is one line with a part that only an expression has."""
        line = text.strip()
        is_one_line = bool(line) and "\n" not in line and line[0] not in '{"'
        return is_one_line and _LIKELY.search(line) is not None

    def lex_line(self, line: str, state: int) -> LineTokens:
        """Return the tokens of a line; see `Notation`."""
        from engine.notations.regex.lexer import lex_line

        return lex_line(line, state)

    def propose(self, text: str, offset: int) -> Proposals:
        """Return the proposals at an offset; see `Notation`."""
        from engine.notations.regex.completion import propose

        return propose(text, offset)

    def toggle_comment(self, text: str, selected: Span) -> Change:
        """Comment lines of a verbose expression; see `Notation`."""
        if not _VERBOSE.match(text):
            return Change(refusal="A pattern has comments only where it begins with `(?x)`")
        return super().toggle_comment(text, selected)

    def format(self, text: str, options: CompileOptions) -> Change:
        """Format a verbose expression; see `Notation`."""
        from engine.notations.regex.formatting import format_text

        return format_text(text, options)
