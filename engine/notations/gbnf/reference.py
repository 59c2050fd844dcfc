"""The quick reference of GBNF."""

from __future__ import annotations

from functools import cache
from typing import Final

from engine.notations.reference import ReferenceGroup, form_entry
from engine.source.catalogue import catalogue_text

_GROUPS: Final[dict[str, tuple[tuple[str, str, str, str], ...]]] = {
    "rules": (
        ("root ::= …", "root", 'root ::= "yes"', "yes"),
        ("name ::= …", "rule", 'root ::= name\nname ::= "Ada"', "Ada"),
        ("name", "use", 'root ::= name "!"\nname ::= "Ada"', "Ada!"),
        ("# …", "comment", 'root ::= "a" # first', "a"),
    ),
    "texts": (
        ('"…"', "literal", 'root ::= "yes"', "yes"),
        ("[a-z]", "one_of", "root ::= [a-z]", "q"),
        ("[^a-z]", "none_of", "root ::= [^a-z]", "Q"),
        (".", "any", "root ::= .", "x"),
        ("<…>", "token_by_name", 'root ::= <think> "a"', ""),
        ("<[…]>", "token_by_number", 'root ::= <[7]> "a"', ""),
        ("!<…>", "other_token", 'root ::= !<think> "a"', ""),
    ),
    "repetition": (
        ("*", "any_number", 'root ::= "a"*', "aaa"),
        ("+", "once_or_more", 'root ::= "a"+', "aa"),
        ("?", "at_most_once", 'root ::= "a"? "b"', "b"),
        ("{3}", "exactly", 'root ::= "a"{3}', "aaa"),
        ("{2,}", "at_least", 'root ::= "a"{2,}', "aaaa"),
        ("{2,5}", "between", 'root ::= "a"{2,5}', "aaa"),
    ),
    "groups": (
        (' | "…"', "alternative", 'root ::= "yes" | "no"', "no"),
        ("(…)", "group", 'root ::= ("a" "b")+', "abab"),
    ),
    "escapes": (
        (r"\n", "line_feed", r'root ::= "a\nb"', "a\nb"),
        (r"\r", "carriage_return", r'root ::= "a\rb"', "a\rb"),
        (r"\t", "tab", r'root ::= "a\tb"', "a\tb"),
        (r"\\", "backslash", r'root ::= "a\\b"', "a\\b"),
        (r"\"", "quote", r'root ::= "\"a\""', '"a"'),
        (r"\[", "opening_bracket", r"root ::= [\[]", "["),
        (r"\]", "bracket", r"root ::= [\]]", "]"),
        (r"\-", "hyphen", r"root ::= [a\-z]", "-"),
        (r"\x41", "two_digits", r'root ::= "\x41"', "A"),
        (r"\u0041", "four_digits", r'root ::= "\u0041"', "A"),
        (r"\U0001F600", "eight_digits", r'root ::= "\U0001F600"', "\U0001f600"),
    ),
}
"""By group: the form, the name of its meaning, an example, and a text that the example accepts."""


@cache
def gbnf_reference() -> tuple[ReferenceGroup, ...]:
    """Return the forms of GBNF."""
    return tuple(
        ReferenceGroup(
            catalogue_text(f"reference.gbnf.group.{group}"),
            tuple(
                form_entry(form, catalogue_text(f"reference.gbnf.form.{name}"), example, takes)
                for form, name, example, takes in rows
            ),
        )
        for group, rows in _GROUPS.items()
    )


def escape_meanings() -> dict[str, str]:
    """Return the escapes of literals and classes, each with its meaning."""
    return {form: catalogue_text(f"reference.gbnf.form.{name}") for form, name, *_ in _GROUPS["escapes"]}
