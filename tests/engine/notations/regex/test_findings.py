"""Every finding: its code, the text that it points at, and wording that is complete."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.notations.regex.dialect import Dialect
from engine.notations.regex.parser import parse
from engine.notations.regex.reader import MOST_FINDINGS
from engine.source import Diagnostic, GrammarError, Limits, Severity, SourceText, diagnostic
from engine.source.catalogue import catalogue_text
from engine.source.diagnostics import diagnostic_keys

PYTHON = [
    ("a(b", "regex-unclosed-group", "("),
    ("(?P<n>b", "regex-unclosed-group", "(?P<n>"),
    ("a)b", "regex-unopened-group", ")"),
    ("a(?#b", "regex-unclosed-comment", "(?#"),
    ("(?<n>a)", "regex-unknown-group", "(?<"),
    ("(?P<1>a)", "regex-bad-group-name", "1"),
    ("(?P<n", "regex-unclosed-group-name", "(?P<"),
    ("(?P<n>a)(?P<n>b)", "regex-duplicate-group-name", "n"),
    ("a(?zi:b)", "regex-bad-flags", "(?zi:"),
    ("(?i", "regex-bad-flags", "(?i"),
    ("a(?i)b", "regex-flags-not-at-start", "(?i)"),
    ("(?L)a", "regex-locale-flag", "(?L)"),
    ("a|*", "regex-nothing-to-repeat", "*"),
    ("^{2}", "regex-anchor-repeated", "{2}"),
    ("a*{2}?", "regex-multiple-repeat", "{2}?"),
    ("a{3,2}", "regex-repeat-reversed", "{3,2}"),
    ("(a?)*+", "regex-possessive", "*+"),
    ("(?>a*[ab])", "regex-atomic", "(?>"),
    (r"(a)\1", "regex-backreference", r"\1"),
    ("(?P<n>a)(?P=n)", "regex-backreference", "(?P=n)"),
    (r"a\12", "regex-bad-reference", r"\12"),
    ("(?P=n)", "regex-bad-reference", "(?P=n)"),
    ("(a)(?(1)b|c)", "regex-conditional", "(?(1)"),
    ("a(?R)?", "regex-recursion", "(?R)"),
    ("(?&x)", "regex-recursion", "(?&x)"),
    ("a\\", "regex-trailing-backslash", "\\"),
    (r"a\q", "regex-bad-escape", r"\q"),
    (r"[\A]", "regex-bad-escape", r"\A"),
    (r"\x4g", "regex-incomplete-escape", r"\x4"),
    (r"\N", "regex-incomplete-escape", r"\N"),
    (r"\p{L", "regex-incomplete-escape", r"\p{"),
    (r"\U00110000", "regex-escape-too-large", r"\U00110000"),
    (r"[\400]", "regex-escape-too-large", r"\400"),
    (r"\N{nothing}", "regex-unknown-character-name", r"\N{nothing}"),
    ("\\N{\ud800}", "regex-unknown-character-name", "\\N{\ud800}"),
    (r"[\p{Foo}]", "regex-unknown-property", r"\p{Foo}"),
    (r"\ud800", "regex-lone-surrogate", r"\ud800"),
    ("[a-z", "regex-unclosed-class", "["),
    ("[]", "regex-unclosed-class", "["),
    ("[^a", "regex-unclosed-class", "[^"),
    ("[az-b]", "regex-reversed-range", "z-b"),
    (r"[\w-.]", "regex-bad-range", r"\w-."),
    ("[[:alpha:]_]", "regex-posix-class", "[:alpha:]"),
    ("[:digit:]", "regex-posix-class", "[:digit:]"),
    ("[a-z--[aeiou]]", "regex-class-operator", "--"),
    ("[a-z&&[aeiou]]", "regex-class-operator", "&&"),
    ("[0A-z]", "regex-letter-range", "A-z"),
    (r"a\d", "regex-unicode-class", r"\d"),
    (r"[^\W_]", "regex-unicode-complement", r"\W"),
    ("((a))", "regex-nesting-limit", "("),
    ("(a{4}){5}", "regex-repetition-limit", "{5}"),
]
ECMA = [
    ("(?<n>a)|(?<n>b)", "regex-repeated-group-name", "n"),
    ("a{,3}", "regex-repeat-literal", "{,3}"),
    (r"\-", "regex-needless-escape", r"\-"),
    ("a]", "regex-lone-bracket", "]"),
    (r"[\w-.]", "regex-dash-after-set", r"\w-."),
]
CASES = [(Dialect.PYTHON, *case) for case in PYTHON] + [(Dialect.ECMA, *case) for case in ECMA]


def findings(pattern: str, dialect: Dialect, limits: Limits | None = None) -> tuple[Diagnostic, ...]:
    try:
        return parse(SourceText(pattern), dialect, limits or Limits())[1]
    except GrammarError as error:
        return error.diagnostics


@pytest.mark.parametrize(("dialect", "pattern", "code", "place"), CASES)
def test_a_finding_points_at_its_cause(dialect: Dialect, pattern: str, code: str, place: str) -> None:
    limits = Limits(nesting=1, repetition=10)
    source = SourceText(pattern)
    [finding] = [f for f in findings(pattern, dialect, limits) if f.code == code]
    assert source.excerpt(finding.span) == place


def test_every_code_has_a_case() -> None:
    codes = {key.partition(".")[0] for key in diagnostic_keys()}
    assert {code for _, _, code, _ in CASES} == {code for code in codes if code.startswith("regex-")}


@pytest.mark.parametrize(("dialect", "pattern"), [(dialect, pattern) for dialect, pattern, _, _ in CASES])
def test_a_wording_is_one_finished_sentence(dialect: Dialect, pattern: str) -> None:
    for finding in findings(pattern, dialect):
        for text in (finding.message, finding.hint):
            assert text.isprintable()
            assert not text.endswith(".")
        assert finding.hint


def test_one_parse_reports_every_mistake_in_order() -> None:
    found = findings(r"(a\q[z-a](?:a?)*+(?P=x)|+)[b-", Dialect.PYTHON)
    assert [finding.code for finding in found] == [
        "regex-bad-escape",
        "regex-reversed-range",
        "regex-possessive",
        "regex-bad-reference",
        "regex-nothing-to-repeat",
        "regex-unclosed-class",
    ]


@pytest.mark.parametrize(
    ("name", "advice"),
    [("alpha", "Alpha"), ("greek", "Script=Greek"), ("IsLatin", "Script=Latin"), ("letter", "Letter")],
)
def test_a_property_spelt_otherwise_is_put_right(name: str, advice: str) -> None:
    [finding] = findings(rf"\p{{{name}}}", Dialect.ECMA)
    assert finding == diagnostic("regex-unknown-property.similar", finding.span, name=name, similar=advice)


def test_a_pair_of_surrogate_escapes_is_put_right() -> None:
    first, _ = findings(r"\ud83d\ude00", Dialect.PYTHON)
    assert first == diagnostic("regex-lone-surrogate.pair", first.span, text=r"\ud83d", code=0x1F600)


def test_surrogates_inside_a_wider_class_are_no_finding() -> None:
    assert findings(r"[\ud800-\uffff]|[^a]", Dialect.PYTHON) == ()


def test_nonsense_ends_in_so_many_findings_and_no_more() -> None:
    assert len(findings(")" * 10_000, Dialect.PYTHON)) == MOST_FINDINGS


def test_a_shorthand_says_how_many_characters_it_has() -> None:
    digits, spaces = findings(r"\d[\s]", Dialect.PYTHON)
    count = sum(len(re.findall(r"\d", chr(code))) for code in range(0x110000))
    assert digits.message == rf"`\d` matches {count:,} Unicode digits"
    assert digits.hint == catalogue_text("diagnostics.regex-unicode-class.hint", instead="[0-9]", what="digits")
    assert spaces.hint == r"Write ` \t\n\r\f\v` for ASCII white-space characters"
    assert digits.severity is spaces.severity is Severity.HINT
    complement, within, any_case = findings(r"\D[\D](?i:[\w])", Dialect.PYTHON)
    assert complement.message == rf"`\D` excludes {count:,} Unicode digits"
    assert complement.hint == catalogue_text(
        "diagnostics.regex-unicode-complement.hint", instead="[^0-9]", what="digits"
    )
    assert within.hint == catalogue_text("diagnostics.regex-unicode-complement.in-group.hint", what="digits")
    assert any_case.hint == catalogue_text(
        "diagnostics.regex-unicode-class.in-group.hint", what=catalogue_text("diagnostics.fragment.words")
    )


@pytest.mark.parametrize(
    ("dialect", "pattern"),
    [
        (Dialect.PYTHON, r"(?a)\d\W[\s]"),
        (Dialect.PYTHON, r"(?a:\d[^\w])"),
        (Dialect.PYTHON, r"\ba\B[0-9]"),
        (Dialect.ECMA, r"\d\W[\s]"),
    ],
)
def test_no_hint_where_the_author_said_ascii_or_ecmascript_means_it(dialect: Dialect, pattern: str) -> None:
    assert findings(pattern, dialect) == ()


def test_hints_come_once_for_each_place_and_hide_nothing() -> None:
    found = findings(r"\d" * (MOST_FINDINGS + 5) + "[A-z](", Dialect.PYTHON)
    assert [finding.code for finding in found[-2:]] == ["regex-letter-range", "regex-unclosed-group"]
    hints = [finding.span for finding in found if finding.severity is Severity.HINT]
    assert len(hints) == len(set(hints)) == MOST_FINDINGS


def test_warnings_never_hide_an_error() -> None:
    found = findings("]" * (MOST_FINDINGS + 1) + "(", Dialect.ECMA)
    assert found[-1].severity is Severity.ERROR


@given(st.text(max_size=40) | st.text("()[]{}?*+|\\-^$.:=!<>Ppik&#,1aux\n", max_size=40), st.sampled_from(Dialect))
def test_no_text_is_a_crash(pattern: str, dialect: Dialect) -> None:
    for finding in findings(pattern, dialect):
        assert finding.span.end <= len(pattern)
        assert finding.message.isprintable()
        assert finding.hint.isprintable()
