"""The lexer of GBNF: parser, colours, names, completion and formatter all read its tokens.

The lexical rules are those of llama.cpp's parser (`src/llama-grammar.cpp`) and of its description in
`grammars/README.md`. A literal or a class may contain line ends, there as here. But while its closing quote or bracket
is being typed, it would reach to that of another rule. So an editor reads with `ends_at_rules`: there, no literal and
no class contains a line that begins a rule.

The state that lasts beyond a line: whether a literal or a class is open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from engine.notations.lexing import LineTokens, Token, TokenKind
from engine.source import Span

_CODE, _IN_LITERAL, _IN_CLASS = 0, 1, 2


GbnfKind: TypeAlias = Literal[
    "blank",
    "line_end",
    "comment",
    "name",
    "defined",  # a name before `::=`
    "defines",  # `::=`
    "literal",
    "open_literal",  # without its closing quote
    "class",
    "open_class",  # without its closing bracket
    "element",  # a token of a vocabulary
    "any",
    "sign",  # one of `* + ?`
    "count",  # from `{` to `}`
    "bar",
    "open",
    "close",
    "other",  # one character that begins no token
    "end",  # the end of the text, for the parser
]
"""The kind of a token of GBNF. Strings, since the parser compares them often, and members of an enum take longer."""


class GbnfToken(NamedTuple):
    """A token of a GBNF text."""

    kind: GbnfKind
    start: int
    end: int

    @property
    def span(self) -> Span:
        """Its span."""
        return Span(self.start, self.end)


NAME: Final = re.compile(r"[A-Za-z0-9_-]+")
RULE_START: Final = re.compile(r"^[ \t]*([A-Za-z0-9_-]+)[ \t]*::=", re.MULTILINE)
_NO_RULE: Final = r"(?![ \t]*[A-Za-z0-9_-]+[ \t]*::=)"
# What a literal or a class contains: `close` ends it, and a backslash includes the next character, even a line end.
_ANYTHING: Final = r"(?:[^{close}\\]++|\\.)*+"
_UP_TO_A_RULE: Final = rf"(?:[^{{close}}\\\n]++|\\[^\n]|\\?\n{_NO_RULE})*+"


def _tokens_pattern(content: str) -> re.Pattern[str]:
    """Return the pattern of a token, with a group for its kind."""
    literal, members = content.format(close='"'), content.format(close=r"\]")
    return re.compile(
        r"(?P<blank>[ \t]++)"
        r"|(?P<name>[A-Za-z0-9_-]++)(?:(?=[ \t]*+::=)(?P<defined>))?"
        rf'|(?P<literal>"{literal})(?:"|(?P<open_literal>\\?))'
        rf"|(?P<class>\[\^?{members})(?:\]|(?P<open_class>\\?))"
        r"|(?P<line_end>\r\n?|\n)|(?P<bar>\|)|(?P<defines>::=)|(?P<sign>[*+?])|(?P<open>\()|(?P<close>\))|(?P<any>\.)"
        r"|(?P<comment>\#[^\r\n]*+)"
        r"|(?P<element>!?<[^>\r\n]*+>?)"
        r"|(?P<count>\{(?:(?:[0-9, \t\r\n]++|\#[^\r\n]*+)*+\}|[0-9, \t]*+))"
        r"|(?P<other>.)",
        re.DOTALL,
    )


TOKEN: Final = _tokens_pattern(_ANYTHING)
_TOLERANT: Final = _tokens_pattern(_UP_TO_A_RULE)
_ESCAPE: Final = r"\\(?:x[0-9A-Fa-f]{0,2}|u[0-9A-Fa-f]{0,4}|U[0-9A-Fa-f]{0,8}|.|\Z)"
_CHARACTER: Final = rf"{_ESCAPE}|[^\\]"
CHARACTER: Final = re.compile(_CHARACTER, re.DOTALL)
"""A character of a literal, literal or escaped."""
MEMBER: Final = re.compile(rf"({_CHARACTER})(?:(-)({_CHARACTER}))?", re.DOTALL)
"""A member of a class: a character, or a range of them."""


def tokens(text: str, start: int = 0, *, ends_at_rules: bool = True) -> Iterator[GbnfToken]:
    """Yield the tokens of a text, valid or not, in order and without gaps.

    Args:
        text: the text.
        start: the offset of the first token.
        ends_at_rules: whether a literal or a class ends before a line that begins a rule.
    """
    new = tuple.__new__  # the class itself takes a third of the time
    for found in (_TOLERANT if ends_at_rules else TOKEN).finditer(text, start):
        yield new(GbnfToken, (found.lastgroup, *found.span()))


# ---------------------------------------------------------------------- colours

_COLOURS: Final = {
    "blank": TokenKind.SPACE,
    "line_end": TokenKind.SPACE,
    "comment": TokenKind.COMMENT,
    "name": TokenKind.ANCHOR,
    "defined": TokenKind.NAME,
    "defines": TokenKind.OPERATOR,
    "element": TokenKind.ESCAPE,
    "sign": TokenKind.QUANTIFIER,
    "count": TokenKind.QUANTIFIER,
    "bar": TokenKind.OPERATOR,
    "any": TokenKind.CLASS,
    "open": TokenKind.GROUP,
    "close": TokenKind.GROUP,
}
_NESTING: Final = {"open": 1, "close": -1}
_STATES: Final = {"open_literal": _IN_LITERAL, "open_class": _IN_CLASS}
_OPENINGS: Final = {_IN_LITERAL: '"', _IN_CLASS: "["}
_MEMBER_COLOURS: Final = {1: TokenKind.CLASS, 2: TokenKind.OPERATOR, 3: TokenKind.CLASS}
_PLAIN_OR_ESCAPE: Final = re.compile(rf"{_ESCAPE}|[^\\]+", re.DOTALL)


def lex_line(line: str, state: int) -> LineTokens:
    """Return the tokens of one line of a GBNF grammar, for `engine.notations.lexing`."""
    opening = _OPENINGS[state] if state and not RULE_START.match(line) else ""
    text, kind = opening + line, ""
    tokens: list[Token] = []
    for found in _TOLERANT.finditer(text):
        kind, (start, end) = found.lastgroup or "", found.span()
        if kind in _COLOURS:
            tokens.append(Token(start, end, _COLOURS[kind], _NESTING.get(kind, 0)))
        elif kind in {"literal", "open_literal"}:
            tokens += _literal_parts(text, start, end, is_closed=kind == "literal")
        elif kind in {"class", "open_class"}:
            tokens += _class_parts(text, start, end, is_closed=kind == "class")
        else:
            tokens.append(Token(start, end, TokenKind.SPACE if text[start].isspace() else TokenKind.LITERAL))
    if opening:
        tokens = [
            Token(max(one.start - 1, 0), one.end - 1, one.kind, one.nesting if one.start else 0)
            for one in tokens
            if one.end > 1
        ]
    return LineTokens(tuple(tokens), _STATES.get(kind, _CODE))


def _literal_parts(text: str, start: int, end: int, *, is_closed: bool) -> Iterator[Token]:
    yield Token(start, start + 1, TokenKind.LITERAL)
    inner = end - is_closed
    for found in _PLAIN_OR_ESCAPE.finditer(text, start + 1, inner):
        is_escape = found[0][0] == "\\"
        yield Token(*found.span(), TokenKind.ESCAPE if is_escape else TokenKind.LITERAL)
    if is_closed:
        yield Token(inner, end, TokenKind.LITERAL)


def _class_parts(text: str, start: int, end: int, *, is_closed: bool) -> Iterator[Token]:
    inner = end - is_closed
    first = start + 1 + text.startswith("^", start + 1, inner)
    yield Token(start, first, TokenKind.CLASS, 1)
    for found in MEMBER.finditer(text, first, inner):
        for number, part in enumerate(found.groups(), 1):
            if part:
                kind = TokenKind.ESCAPE if part[0] == "\\" else _MEMBER_COLOURS[number]
                yield Token(*found.span(number), kind)
    if is_closed:
        yield Token(inner, end, TokenKind.CLASS, -1)
