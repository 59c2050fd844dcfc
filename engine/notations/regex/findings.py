"""Findings about a pattern: every message in one table, and the list that a parse fills.

A message may contain `%(name)s` fields, which the reporting code fills in. Text from the pattern is shortened and made
visible, so that a finding stays one line; `advice` and `why` are the engine's own text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from engine.source import Diagnostic, Severity, Span

_OWN_WORDS: Final = frozenset({"advice", "why"})
_LONGEST_QUOTE: Final = 60
MOST_FINDINGS: Final = 100
"""The number of findings after which a parse stops: the text is not a regular expression. Hints count separately."""


@dataclass(frozen=True, slots=True)
class Wording:
    """The message and hint of one kind of finding."""

    message: str
    hint: str
    severity: Severity = Severity.ERROR


def _warning(message: str, hint: str) -> Wording:
    return Wording(message, hint, Severity.WARNING)


def _hint(message: str, hint: str) -> Wording:
    return Wording(message, hint, Severity.HINT)


WORDINGS: Final[Mapping[str, Wording]] = MappingProxyType(
    {
        # Groups
        "regex-unclosed-group": Wording("the group `%(opening)s` is never closed", "Add a `)` where the group ends"),
        "regex-unopened-group": Wording("`)` closes no group", r"Remove it, or write `\)` for the character itself"),
        "regex-unclosed-comment": Wording("the comment `(?#` is never closed", "Add a `)` where the comment ends"),
        "regex-unknown-group": Wording("`%(opening)s` opens no kind of group in this dialect", "%(advice)s"),
        "regex-bad-group-name": Wording(
            "`%(name)s` cannot name a group", "Use letters, digits and underscores, not beginning with a digit"
        ),
        "regex-unclosed-group-name": Wording("the group's name is never closed", "Add `%(closing)s` after the name"),
        "regex-duplicate-group-name": Wording(
            "the group name `%(name)s` is used twice", "Give each group its own name"
        ),
        "regex-repeated-group-name": _warning(
            "the group name `%(name)s` is used twice, which engines before ES2025 refuse",
            "Give each group its own name",
        ),
        # Flags
        "regex-bad-flags": Wording("`%(flags)s` is not a valid list of flags: %(why)s", "%(advice)s"),
        "regex-flags-not-at-start": Wording(
            "flags for the whole pattern are allowed only at its start",
            "Move them to the start, or write `(?%(flags)s:…)` around what they are for",
        ),
        "regex-locale-flag": Wording(
            "the flag `L` makes the language depend on the machine's locale", "Leave it out; `(?u)` and `(?a)` do not"
        ),
        # Quantifiers
        "regex-nothing-to-repeat": Wording(
            "`%(quantifier)s` has nothing to repeat",
            r"Write something before it, or write `\%(quantifier)s` for the text",
        ),
        "regex-anchor-repeated": Wording(
            "`%(quantifier)s` repeats a condition that consumes nothing", "Remove it, or put the condition in a group"
        ),
        "regex-multiple-repeat": Wording(
            "`%(quantifier)s` repeats what is already repeated",
            "Put the inner repetition in a group: `(?:…)%(quantifier)s`",
        ),
        "regex-repeat-reversed": Wording(
            "`%(quantifier)s` requires at least %(minimum)s and at most %(maximum)s", "Write the smaller number first"
        ),
        "regex-repeat-literal": _warning(
            "`%(quantifier)s` is literal text in ECMAScript, not a repetition", "Write `{0,%(maximum)s}` to repeat"
        ),
        "regex-possessive": Wording(
            "what the possessive `%(quantifier)s` matches here is no set of strings: it depends on the order in which "
            "a matcher tries things, or it repeats what may be empty",
            "Write `%(plain)s`, and where it must not run on into what follows, exclude that from the repeated class",
        ),
        # Not regular, or not a language
        "regex-atomic": Wording(
            "what the atomic group `(?>` matches here is no set of strings: it depends on the order in which a matcher "
            "tries things",
            "Write `(?:…)`, and keep alternatives from overlapping where it matters",
        ),
        "regex-backreference": Wording(
            "the backreference `%(reference)s` is not regular: no automaton can remember what a group matched",
            r"Write the possibilities out, such as `(?:aa|bb)` for `([ab])\1`",
        ),
        "regex-bad-reference": Wording(
            "`%(reference)s` refers to a group that does not exist",
            r"Write a character by its code as `\x01`; backreferences themselves are not supported",
        ),
        "regex-conditional": Wording(
            "the conditional `%(opening)s` is not regular: no automaton can remember which groups took part",
            "Write both cases as alternatives, such as `(?:<a>|a)` for `(<)?a(?(1)>)`",
        ),
        "regex-recursion": Wording(
            "the recursion `%(opening)s` is not regular: nesting needs a stack",
            "Write the grammar in GBNF, where rules recurse",
        ),
        # Escapes
        "regex-trailing-backslash": Wording(
            "the pattern ends in the middle of an escape", r"Write `\\` for a backslash"
        ),
        "regex-bad-escape": Wording("`%(escape)s` is not an escape in this dialect", "%(advice)s"),
        "regex-incomplete-escape": Wording("`%(escape)s` is incomplete", "Write it as `%(form)s`"),
        "regex-escape-too-large": Wording(
            "`%(escape)s` is beyond the last character, %(last)s", "Use a smaller number"
        ),
        "regex-unknown-character-name": Wording(
            "Unicode has no character named `%(name)s`", r"Check the name, such as `\N{EM DASH}`, or write `\u2014`"
        ),
        "regex-unknown-property": Wording("there is no Unicode property `%(name)s`", "%(advice)s"),
        "regex-needless-escape": _warning(
            "`%(escape)s` is an error in strict ECMAScript; it is taken as the character itself",
            "Write `%(character)s` without the backslash",
        ),
        "regex-lone-bracket": _warning(
            "a lone `%(character)s` is an error in strict ECMAScript; it is taken as the character itself",
            r"Write `\%(character)s`",
        ),
        "regex-lone-surrogate": _warning(
            "`%(text)s` is half of a surrogate pair, which is no character: it matches nothing", "%(advice)s"
        ),
        # Classes
        "regex-unclosed-class": Wording(
            "the class `%(opening)s` is never closed", r"Add a `]`; where a class begins with `]`, that one is a member"
        ),
        "regex-reversed-range": Wording("the range `%(range)s` runs backwards", "Write the smaller character first"),
        "regex-bad-range": Wording(
            "`%(range)s` is not a range: one of its ends is a set", r"Write `\-` for the character, or put it last"
        ),
        "regex-dash-after-set": _warning(
            "`%(range)s` is an error in strict ECMAScript; its `-` is taken as the character itself", r"Write `\-`"
        ),
        "regex-posix-class": _warning(
            "POSIX classes are not supported: `%(text)s` matches `[`, `:` and the letters of the name",
            "Write `%(instead)s`",
        ),
        "regex-class-operator": _warning(
            "`%(operator)s` in a class is no set operator here: each character counts as itself", "%(advice)s"
        ),
        "regex-letter-range": _warning(
            "the range `%(range)s` also holds the characters between `Z` and `a`: ``[ \\ ] ^ _ ` ``",
            "Write `%(instead)s` for letters only",
        ),
        "regex-unicode-class": _hint("`%(text)s` matches %(count)s Unicode %(what)s", "%(advice)s"),
        "regex-unicode-complement": _hint("`%(text)s` excludes %(count)s Unicode %(what)s", "%(advice)s"),
        # Limits
        "regex-nesting-limit": Wording(
            "groups are nested deeper than the limit `nesting` of %(limit)s",
            "Remove groups that are not needed, write nested alternatives side by side, or use --limit nesting=N",
        ),
        "regex-repetition-limit": Wording(
            "`%(quantifier)s` makes %(given)s repetitions, counting those inside it, where the limit `repetition` is "
            "%(limit)s",
            "Use `*` or `+`, smaller counts, or --limit repetition=N",
        ),
    }
)


class RegexFindings:
    """The findings of one parse."""

    def __init__(self) -> None:
        self._found: list[Diagnostic] = []
        self._hints = 0
        self.has_errors = False

    @property
    def is_full(self) -> bool:
        """True if there are enough findings to stop."""
        return self.has_errors and len(self._found) - self._hints >= MOST_FINDINGS

    def add(self, code: str, span: Span, /, **fields: str) -> None:
        """Report a finding.

        Args:
            code: its code in `WORDINGS`.
            span: its span.
            fields: the fields of its message.
        """
        wording = WORDINGS[code]
        is_error = wording.severity is Severity.ERROR
        # A first error is always reported, however many warnings precede it; hints do not count against the limit of
        # others.
        count = self._hints if wording.severity is Severity.HINT else len(self._found) - self._hints
        if count >= MOST_FINDINGS and not (is_error and not self.has_errors):
            return
        self._hints += wording.severity is Severity.HINT
        self.has_errors = self.has_errors or is_error
        quoted = {name: text if name in _OWN_WORDS else _quotable(text) for name, text in fields.items()}
        self._found.append(Diagnostic(code, wording.severity, span, wording.message % quoted, wording.hint % quoted))

    def in_source_order(self) -> tuple[Diagnostic, ...]:
        """Return all findings, sorted by their start."""
        return tuple(sorted(self._found, key=lambda finding: finding.span))


def _quotable(text: str) -> str:
    short = text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 1] + "…"
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in short
    )
