"""Goals, asked of real steps: where a run stops is compared with what the text says."""

from __future__ import annotations

from dataclasses import replace

import pytest
from random_model import RandomModel

from engine.compile import compile_grammar
from engine.decoding.debugging.rule_events import RuleEventTracker
from engine.decoding.debugging.run_until import Goal, RunProgress, RunUntil, reached
from engine.decoding.session import DecodeSession
from engine.decoding.values import EosState
from engine.source import InvariantError
from engine.source.catalogue import capitalised, catalogue_text
from engine.vocabulary import Vocabulary

TOKENS = [b"(", b")", b"1", b"2", b"+", b"a", b"b", b"ab", None]
WORDS = Vocabulary(TOKENS, [8], {8: "<end>"})
SUMS = compile_grammar(
    "gbnf",
    """root ::= expr
expr ::= term ("+" term)*
term ::= num | paren
paren ::= "(" expr ")"
num ::= [0-9]+
""",
)


def run(grammar, until: RunUntil, texts: list[bytes], *, taken: int = 0) -> tuple[int, str]:
    """How many of the texts are taken, after the first ones, until the goal is reached; and the sentence."""
    session = DecodeSession(grammar, RandomModel(WORDS))
    outputs: list[bytes] = []
    for text in texts[:taken]:
        session.take(TOKENS.index(text))
        outputs.append(text)
    passages = RuleEventTracker(grammar)
    depth = passages.after(outputs).depth
    for steps, text in enumerate(texts[taken:], 1):
        step = session.take(TOKENS.index(text))
        outputs.append(text)
        now = RunProgress(steps, depth, step, session.position(), passages.after(outputs))
        if why := reached(until, now):
            return steps, why
    return len(texts) - taken, ""


TEXT = [b"(", b"1", b"+", b"2", b")", b"+", b"1"]


@pytest.mark.parametrize(
    ("goal", "taken", "steps"),
    [
        (Goal.OVER, 0, 7),  # the whole text is one rule, which is never over
        (Goal.OVER, 1, 4),  # over the expression in the brackets
        (Goal.OVER, 2, 1),
        (Goal.OVER, 3, 2),
        (Goal.OVER, 5, 1),
        (Goal.OUT, 1, 4),  # out of the brackets
        (Goal.OUT, 2, 1),  # out of the number
        (Goal.OUT, 4, 1),
        (Goal.OUT, 5, 2),
    ],
)
def test_over_and_out(goal, taken, steps):
    count, why = run(SUMS, RunUntil(goal), TEXT, taken=taken)
    assert count == steps
    assert bool(why) == (taken + steps < len(TEXT) or (goal is Goal.OVER and (taken, steps) == (5, 2)))


def test_a_rule_exit():
    assert run(SUMS, RunUntil(Goal.RULE_EXIT, name="paren"), TEXT) == (
        5,
        capitalised(catalogue_text("decoding.run.rule_exit", name="paren")),
    )
    assert run(SUMS, RunUntil(Goal.RULE_EXIT, name="num"), TEXT) == (
        3,
        capitalised(catalogue_text("decoding.run.rule_exit", name="num")),
    )
    assert run(SUMS, RunUntil(Goal.RULE_EXIT, name="nothing"), TEXT)[1] == ""


def test_a_token_and_a_count():
    plus = TOKENS.index(b"+")
    assert run(SUMS, RunUntil(Goal.TOKEN, token_id=plus, label="“+”"), TEXT) == (
        3,
        capitalised(catalogue_text("decoding.run.token", name="“+”")),
    )
    assert run(SUMS, RunUntil(Goal.TOKEN, token="+"), TEXT) == (
        3,
        capitalised(catalogue_text("decoding.run.token", name="+")),
    )
    assert run(SUMS, RunUntil(Goal.TOKEN, token="<end>"), TEXT)[1] == ""
    assert run(SUMS, RunUntil(Goal.TOKENS, count=4), TEXT) == (4, catalogue_text("decoding.run.tokens", count=4))
    assert run(SUMS, RunUntil(Goal.TOKENS, count=1), TEXT) == (1, catalogue_text("decoding.run.tokens", count=1))


def test_the_text_may_end():
    assert run(SUMS, RunUntil(Goal.EOS_LEGAL), TEXT) == (5, capitalised(catalogue_text("decoding.run.may_end")))


def test_the_end_is_not_told_here():
    assert run(SUMS, RunUntil(), TEXT) == (7, "")


def progress(**changes) -> RunProgress:
    session = DecodeSession(SUMS, RandomModel(WORDS))
    step = session.take(0)
    position = replace(session.position(), **changes)
    return RunProgress(1, 0, step, position)


def test_mass_below():
    until = RunUntil(Goal.Z_BELOW, z=0.05)
    assert reached(until, progress(z=0.05)) == ""
    assert "allowed mass is 4.9%, below 5.0%" in reached(until, progress(z=0.049))


def test_without_an_end_token_a_match_may_end():
    until = RunUntil(Goal.EOS_LEGAL)
    assert reached(until, progress(eos=EosState.NO_EOS, accepting=True))
    assert not reached(until, progress(eos=EosState.NO_EOS, accepting=False))


def test_a_state():
    until = RunUntil(Goal.STATE, name="num", state=1)
    now = progress()
    assert reached(until, now) == ""
    assert reached(until, replace(now, states={("num", 1)})) == capitalised(
        catalogue_text("decoding.run.state", name="state 1")
    )
    assert reached(replace(until, name="expr"), replace(now, states={("num", 1)})) == ""


def test_without_knowing_the_rules_none_is_over():
    assert reached(RunUntil(Goal.OUT), progress()) == ""
    assert RunUntil(Goal.OUT).needs_rule_events
    assert not RunUntil(Goal.STATE).needs_rule_events


@pytest.mark.parametrize("wrong", [{"z": 0.0}, {"z": 1.5}, {"z": float("nan")}, {"count": 0}])
def test_nonsense_is_refused(wrong):
    with pytest.raises(InvariantError):
        RunUntil(**wrong)
