"""Whatever is written as a regular expression compiles or is refused, and what compiles can be walked."""

from __future__ import annotations

from fuzzing import LIMITS, any_text, can_be_walked, compiles_or_is_refused, fuzz, joined, mutated, real_texts
from hypothesis import example, given
from hypothesis import strategies as st

from engine import CompileOptions

WORDS = [
    *"ab1 .^$|()[]{}*+?\\-,:=!<>#\n\x00é\U0001f600\ud800",
    *(
        r"\d",
        r"\W",
        r"\b",
        r"\B",
        r"\A",
        r"\Z",
        r"\z",
        r"\1",
        r"\0",
        r"\x4",
        r"\x41",
        r"\u00e9",
        r"\u{1F600}",
        r"\ud83d",
    ),
    *(r"\p{L}", r"\P{Script=Greek}", r"\p{", r"\N{DIGIT ONE}", r"\N{", r"\k<n>", r"\cA", r"\Q", r"\777", r"\U00110000"),
    *("(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i)", "(?-i:", "(?aLu)", "(?x) # c\n", "(?#", "(?P<n>", "(?P=n)"),
    *(
        "(?<n>",
        "(?(1)a|b)",
        "(?R)",
        "(?&n)",
        "{2}",
        "{,3}",
        "{3,1}",
        "{0,100000}",
        "{99999999999999999999}",
        "*+",
        "??",
    ),
    *("[^", "[]", "[^]", "[a-", "z-a]", "[[:alpha:]]", "&&", "[\\d-z]", "(?s:.)", "(?m:^a$)", "(|)", "()*", "(a*)*"),
]
REAL = real_texts(["regex", "outlines", "xgrammar"], "regex", 300) or [r"(?=.*\d)[a-z]{2,5}(?<!x)|\w+@\w+"]


@fuzz(150)
@given(
    st.one_of(joined(WORDS), mutated(REAL, WORDS), any_text()), st.sampled_from(["python", "ecma"]), st.integers(0, 99)
)
@example("(" * 300 + ")" * 299, "python", 0)
@example("(?=" * 60 + "a" + ")" * 60, "python", 0)
@example("(?!" * 300 + "a" + ")" * 300, "ecma", 0)
@example("((((a*)*)*)*)*{2,3}", "ecma", 0)
@example("\\N{\ud800}", "python", 0)
@example("(?>" * 60 + "a*" + ")*+" * 60, "python", 0)
def test_a_regex(text: str, dialect: str, seed: int) -> None:
    options = CompileOptions(dialect=dialect, limits=LIMITS)  # type: ignore[arg-type]
    grammar = compiles_or_is_refused("regex", text, options)
    if grammar is not None:
        can_be_walked(grammar, seed)
