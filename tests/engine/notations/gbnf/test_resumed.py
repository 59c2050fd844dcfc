"""The findings of a text that is edited, against those of reading all of it."""

import random

import pytest

from engine.notations.gbnf.parser import RuleParser, parse
from engine.notations.gbnf.resumed import EditedRules
from engine.source import GrammarError, LimitExceededError, Limits, SourceText

RULES = [
    'root ::= a | b "x"*\n',
    "b ::= [a-z]{2,3} c?\n",
    'c ::= ("x" | b)* # a "comment\n',
    '_d ::= a\n  | ""*\n',
    'a ::= e-1 "\nb"\n',
    "e-1 ::= a | [\n]\n",
]
PIECES = (
    *RULES,
    *'"[](){}*?|\n\\xé1^-!.',
    *("::=", "::", "{1,", "{3}", "{2000}", "\r\n", "root", "a", "<think>", "<[5]>", "# "),
    "((a b c)? d){900}",
    '\n g ::= a\nh ::= h "x" |\n',
)


def findings_of(text, limits):
    try:
        return parse(SourceText(text), limits)[1]
    except GrammarError as error:
        return error.diagnostics


@pytest.mark.parametrize("seed", range(8))
def test_findings_after_random_edits_are_those_of_the_whole_text(seed):
    chance, edited, limits = random.Random(seed), EditedRules(), Limits()
    text = "".join(chance.choices(RULES, k=9))
    for _ in range(12):
        start = chance.randrange(len(text) + 1)
        end = start + chance.choice([0, 0, 1, 2, 20])
        text = text[:start] + "".join(chance.choices(PIECES, k=chance.randrange(3))) + text[end:]
        assert edited.findings(SourceText(text), limits) == findings_of(text, limits)


def test_rules_beside_an_edit_are_not_read_again(monkeypatch):
    read, next_part = [], RuleParser.next_part
    monkeypatch.setattr(RuleParser, "next_part", lambda parser: read.append(parser.reader.at) or next_part(parser))
    lines = [f'rule-{number} ::= "x" rule-{number + 1}\n' for number in range(50)]
    text = "root ::= rule-0\n" + "".join(lines) + 'rule-50 ::= "y"\n'
    edited, limits = EditedRules(), Limits()
    edited.findings(SourceText(text), limits)
    read.clear()
    for changed in (text.replace('"x" rule-26', '"x"* rule-66'), text):
        assert edited.findings(SourceText(changed), limits) == findings_of(changed, limits)
    assert read.count(text.index("rule-25 ::=")) == 4  # twice as a whole
    assert read.count(text.index("rule-40 ::=")) == 1


def test_other_limits_are_followed():
    edited = EditedRules()
    text = 'root ::= (("a"))'
    assert edited.findings(SourceText(text), Limits()) == ()
    few = Limits(nesting=1)
    assert edited.findings(SourceText(text), few) == findings_of(text, few) != ()
    with pytest.raises(LimitExceededError):
        edited.findings(SourceText(text), Limits(source_length=3))
