"""Whatever is written as GBNF compiles or is refused, and what compiles can be walked."""

from __future__ import annotations

from fuzzing import any_text, can_be_walked, compiles_or_is_refused, fuzz, joined, mutated, real_texts
from hypothesis import example, given
from hypothesis import strategies as st

WORDS = [
    *'ab1 .|()[]{}*+?\\-,:=!<>#"\n\r\t_\x00é\U0001f600\ud800',
    *(
        "root ::= ",
        "\nroot ::= ",
        "\na ::= ",
        "\nb-2 ::= ",
        " ::= ",
        "root",
        " a ",
        " b-2 ",
        "\n  | ",
        " | ",
        '"ab"',
        '""',
    ),
    *(
        r'"\x41"',
        r'"\u00e9"',
        r'"\U0001F600"',
        r'"\xZ"',
        r'"\q"',
        r'"\uD800"',
        r'"\U00110000"',
        "[a-z]",
        "[^\\n]",
        "[]",
    ),
    *(
        "[^]",
        "[z-a]",
        "[a-",
        "{2}",
        "{2,}",
        "{,3}",
        "{3,1}",
        "{0,100000}",
        "{",
        "<think>",
        "!<[12]>",
        "<[",
        "<[99999999999]>",
    ),
    *("# comment\n", "( ", " )", "()", "(a)*", "a* ", "root root", "a b-2? "),
]
ARITHMETIC = """root ::= (expr "=" ws term "\\n")+
expr ::= term ([-+*/] term)*
term ::= ident | num | "(" ws expr ")" ws
ident ::= [a-z] [a-z0-9_]* ws
num ::= [0-9]{1,9} ws
ws ::= [ \\t\\n]*
"""
AMBIGUOUS = 'root ::= s\ns ::= s s | "a" | "" | b\nb ::= b? "b" s | root'
REAL = [*real_texts(["llama", "xgrammar"], "gbnf", 600), ARITHMETIC, AMBIGUOUS]


LEAVES = ["root", "a", "b", '"a"', '"ab"', '""', "[a-b]", "[^a]", ".", '"é"', "[]", '"\\uD800"']
BODIES = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(" ".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"({' | '.join(parts)})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{0,3}", "{2,}", "{0}"])).map(
            lambda p: f"({p[0]}){p[1]}"
        ),
    ),
    max_leaves=5,
)
RULES = st.tuples(BODIES, BODIES, BODIES).map(lambda bodies: "root ::= {}\na ::= {}\nb ::= {}".format(*bodies))


@fuzz(200)
@given(
    st.one_of(RULES, RULES, joined(WORDS).map("root ::= ".__add__), mutated(REAL, WORDS, 2), any_text()),
    st.integers(0, 99),
)
@example("root ::= " + "(" * 300 + '"a"' + ")" * 300, 0)
@example("root ::= a\na ::= b a | \nb ::= a b | root", 0)
def test_gbnf(text: str, seed: int) -> None:
    grammar = compiles_or_is_refused("gbnf", text)
    if grammar is not None:
        can_be_walked(grammar, seed)
