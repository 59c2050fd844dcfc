"""The `ecma` dialect: ECMAScript with the u flag. The expectations were checked against V8."""

from __future__ import annotations

import pytest
from language import matches

from engine.grammar import Never
from engine.notations.regex.dialect import Dialect
from engine.notations.regex.parser import parse
from engine.source import Diagnostic, GrammarError, Limits, SourceText


def read(pattern: str) -> tuple[object, tuple[Diagnostic, ...]]:
    return parse(SourceText(pattern), Dialect.ECMA, Limits())


@pytest.mark.parametrize(
    ("pattern", "accepts", "rejects"),
    [
        ("^a$", ["a"], ["a\n", "", "aa"]),
        ("(?m:^a$)\n(?m:^b$)", ["a\nb"], ["ab"]),
        (".", ["a", "\u0085", "😀"], ["\n", "\r", "\u2028", "\u2029", ""]),
        ("(?s:.)", ["\n", "\u2028"], [""]),
        (r"\s", ["\ufeff", "\u2028", "\u00a0", "\v"], ["\u0085", "\u200b", "\x1c"]),
        (r"\d\w", ["1a", "0_"], ["৪a", "1é"]),
        (r"a\b-\B-", ["a--"], ["a-"]),
        (r"\u0061\x62\u{63}\cJ\0\t", ["abc\n\0\t"], []),
        (r"\uD83D\uDE00\u{1F600}[\uD83D\uDE00]", ["😀😀😀"], []),
        (r"[\b]", ["\b"], ["b"]),
        ("[^]", ["]", "\n", "^"], [""]),
        (r"\p{Lu}\p{Script=Greek}\p{gc=Nd}\P{L}", ["Aα1-"], ["aα1-", "Aa1-", "Aα1a"]),
        (r"\p{digit}", ["৪"], ["a"]),
        ("(?i:k)", ["k", "K", "\u212a"], []),
        (r"(?i:\w)", ["ſ", "\u212a"], ["é"]),
        (r"(?i:\P{Lu})", ["a", "A", "1"], []),
        (r"(?i:[^\P{Lu}])", [], ["A", "a", "1"]),
        (r"(?i:ß)", ["ß", "ẞ"], ["ss"]),
        ("(?i-s:a.)", ["Ab"], ["A\n"]),
        ("(?i:a(?-i:b))", ["Ab", "ab"], ["aB"]),
        ("(?<year>a)", ["a"], []),
        (r"(?=a)\w+(?<=b)", ["ab"], ["bb", "aa"]),
        (r"a\/b", ["a/b"], []),
    ],
)
def test_a_pattern_means_what_the_standard_says(pattern: str, accepts: list[str], rejects: list[str]) -> None:
    node, diagnostics = parse(SourceText(pattern), "ecma", Limits())
    assert not diagnostics
    assert [text for text in accepts if not matches(node, text)] == []
    assert [text for text in rejects if matches(node, text)] == []


def test_an_empty_class_matches_nothing() -> None:
    node, _ = read("[]")
    assert isinstance(node, Never)


@pytest.mark.parametrize(
    ("pattern", "text", "code"),
    [
        (r"a\-b", "a-b", "regex-needless-escape"),
        (r"[\_\"]", '"', "regex-needless-escape"),
        (r"[\w-.]", "-", "regex-dash-after-set"),
        ("{a", "{a", "regex-lone-bracket"),
        ("a]", "a]", "regex-lone-bracket"),
        ("a}", "a}", "regex-lone-bracket"),
        ("a{,3}", "a{,3}", "regex-repeat-literal"),
        ("(?<n>a)|(?<n>b)", "b", "regex-repeated-group-name"),
    ],
)
def test_what_schemas_write_all_the_same_is_taken_with_a_warning(pattern: str, text: str, code: str) -> None:
    node, diagnostics = parse(SourceText(pattern), "ecma", Limits())
    assert code in {finding.code for finding in diagnostics}
    assert matches(node, text)


@pytest.mark.parametrize(
    "pattern",
    [
        r"\Z",
        r"\a",
        r"\c1",
        r"\x4",
        r"\u{110000}",
        r"\u{}",
        r"\00",
        r"[\B]",
        r"[\1]",
        r"\1",
        r"\k<n>",
        r"\p{lu}",
        r"\p{Script=greek}",
        r"\p{Lu=Yes}",
        r"\pL",
        "(?i)a",
        "(?ii:a)",
        "(?-:a)",
        "(?x:a)",
        "(?P<n>a)",
        "(?#c)",
        "(?<1>a)",
        "^*",
        "(?=a)*",
        r"\b+",
        "a**",
        "a++",
        "*",
        "{2}",
        "(",
        ")",
        "[",
        "[b-a]",
        "a{2,1}",
    ],
)
def test_what_has_no_clear_meaning_is_refused(pattern: str) -> None:
    with pytest.raises(GrammarError):
        read(pattern)
