"""The quick reference of regular expressions; what a dialect lacks is not listed for it."""

from __future__ import annotations

from functools import cache
from typing import Final

from engine.notations.reference import ReferenceGroup, form_entry
from engine.source.catalogue import catalogue_text

_GROUPS: Final[dict[str, tuple[tuple[str, str, str, str], ...]]] = {
    "characters": (
        (".", "any", "a.c", "abc"),
        ("[a-z]", "one_of", "[a-z]", "q"),
        ("[^a-z]", "none_of", "[^a-z]", "Q"),
        ("[0-9]", "ascii_digit", "[0-9]{2}", "42"),
        (r"\d", "digit", r"\d\d", "42"),
        (r"\D", "not_digit", r"\D", "x"),
        (r"\w", "word", r"\w\w", "a_"),
        (r"\W", "not_word", r"\W", "-"),
        (r"\s", "space", r"a\sb", "a b"),
        (r"\S", "not_space", r"\S", "x"),
        (r"\p{L}", "letter", r"\p{L}\p{L}", "Aß"),
        (r"\P{L}", "not_letter", r"\P{L}", "1"),
        (r"\p{Lu}", "capital", r"\p{Lu}", "Ä"),
        (r"\p{N}", "number", r"\p{N}", "4"),
    ),
    "repetition": (
        ("*", "any_number", "ab*", "abbb"),
        ("+", "once_or_more", "ab+", "abb"),
        ("?", "at_most_once", "ab?", "a"),
        ("{3}", "exactly", "a{3}", "aaa"),
        ("{2,}", "at_least", "a{2,}", "aaaa"),
        ("{2,5}", "between", "a{2,5}", "aaa"),
        ("+?", "lazy", "ab+?", "abb"),
    ),
    "groups": (
        ("…|…", "alternatives", "yes|no", "no"),
        ("(?:…)", "group", "(?:ab)+", "abab"),
        ("(…)", "numbered_group", "(ab)+", "abab"),
        ("(?P<name>…)", "named_group", "(?P<year>[0-9]{4})", "2026"),
        ("(?<name>…)", "named_group", "(?<year>[0-9]{4})", "2026"),
    ),
    "conditions": (
        ("^", "beginning", "^ab", "ab"),
        ("$", "end", "ab$", "ab"),
        (r"\A", "absolute_beginning", r"\Aab", "ab"),
        (r"\Z", "absolute_end", r"ab\Z", "ab"),
        (r"\b", "word_edge", r"\ba\b b", "a b"),
        (r"\B", "not_word_edge", r"a\Bb", "ab"),
        ("(?=…)", "followed", "(?=a)[a-z]+", "ab"),
        ("(?!…)", "not_followed", "(?!a)[a-z]+", "ba"),
        ("(?<=…)", "preceded", "[a-z](?<=a)b", "ab"),
        ("(?<!…)", "not_preceded", "[a-z](?<!a)b", "cb"),
    ),
    "escapes": (
        (r"\n", "line_feed", r"a\nb", "a\nb"),
        (r"\r", "carriage_return", r"a\rb", "a\rb"),
        (r"\t", "tab", r"a\tb", "a\tb"),
        (r"\\", "backslash", r"a\\b", "a\\b"),
        (r"\.", "literal", r"a\.b", "a.b"),
        (r"\x41", "two_digits", r"\x41", "A"),
        (r"\u0041", "four_digits", r"\u0041", "A"),
        (r"\U0001F600", "eight_digits", r"\U0001F600", "\U0001f600"),
        (r"\u{1F600}", "any_digits", r"\u{1F600}", "\U0001f600"),
        (r"\N{BULLET}", "unicode_name", r"\N{BULLET}", "\N{BULLET}"),
        (r"\cJ", "control", r"a\cJ", "a\n"),
    ),
    "flags": (
        ("(?i)", "ignore_case", "(?i)get", "Get"),
        ("(?s)", "dot_all", "(?s)a.b", "a\nb"),
        ("(?m)", "multiline", "(?m)a$\nb", "a\nb"),
        ("(?x)", "verbose", "(?x) a b # c", "ab"),
        ("(?a)", "ascii", r"(?a)\d", "4"),
        ("(?a:…)", "ascii_group", r"(?a:\d)", "4"),
        ("(?i:…)", "ignore_case_group", "(?i:get)-x", "GET-x"),
        ("(?s:…)", "dot_all_group", "(?s:a.b)", "a\nb"),
        ("(?-i:…)", "case_group", "(?i:a(?-i:b))", "Ab"),
        ("(?#…)", "comment", "a(?#first)b", "ab"),
    ),
}
"""By group: the form, the name of its meaning, an example, and a text that the example accepts."""

_PYTHON_ONLY: Final = frozenset(
    (
        *("(?P<name>…)", r"\A", r"\Z", r"\U0001F600", r"\N{BULLET}", "(?#…)"),
        *("(?i)", "(?s)", "(?m)", "(?x)", "(?a)", "(?a:…)"),
    )
)
_ECMA_ONLY: Final = frozenset(("(?<name>…)", r"\u{1F600}", r"\cJ"))
_MEANINGS: Final = {form: name for rows in _GROUPS.values() for form, name, *_ in rows}
_IN_DIALECT: Final = {
    "python": frozenset(("digit", "not_digit", "word", "not_word", "space", "not_space")),
    "ecma": frozenset(("any",)),
}
"""The meanings that a dialect has of its own; those of the shorthands in Python's are the ones without `(?a)`."""


def form_meaning(form: str) -> str:
    """Return what a form does in every dialect, in one line."""
    return catalogue_text(f"reference.regex.form.{_MEANINGS[form]}")


@cache
def regex_reference(dialect: str) -> tuple[ReferenceGroup, ...]:
    """Return the forms of a dialect, `python` or `ecma`."""
    unknown = _ECMA_ONLY if dialect == "python" else _PYTHON_ONLY
    return tuple(
        ReferenceGroup(
            catalogue_text(f"reference.regex.group.{group}"),
            tuple(
                form_entry(form, _meaning(name, dialect), example, takes)
                for form, name, example, takes in rows
                if form not in unknown
            ),
        )
        for group, rows in _GROUPS.items()
    )


def _meaning(name: str, dialect: str) -> str:
    if name in _IN_DIALECT[dialect]:
        return catalogue_text(f"reference.regex.in_dialect.{dialect}.{name}")
    return catalogue_text(f"reference.regex.form.{name}")
