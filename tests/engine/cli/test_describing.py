"""`turnstile explain --tree`."""

from __future__ import annotations

import json

import pytest

from engine.cli.main import main
from engine.source.catalogue import capitalised, catalogue_text

RULES = 'root ::= "a" word | word\nword ::= [a-z]+'


def run(capsys, *arguments: str, notation: str = "gbnf", grammar: str = RULES) -> tuple[int, str, str]:
    code = main(["explain", "--notation", notation, "--grammar", grammar, *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_the_grammar_as_a_tree(capsys) -> None:
    code, out, _ = run(capsys, "--tree")
    assert code == 0
    assert out.splitlines() == [
        capitalised(
            catalogue_text(
                "explanation.rule.start", name="`root`", body=catalogue_text("explanation.node.choice", count=2)
            )
        ),
        "  " + capitalised(catalogue_text("explanation.node.sequence")),
        "    The text `a`",
        "    The rule `word`",
        "  The rule `word`",
        "Rule `word`: " + catalogue_text("explanation.times.once_or_more") + ": one of `a` to `z`",
    ]


def test_the_same_as_data(capsys) -> None:
    _, out, _ = run(capsys, "--tree", "--json")
    found = json.loads(out)
    assert found["complete"] is True
    assert found["phrases"][3] == {
        "words": "The rule `word`",
        "depth": 2,
        "text": "word",
        "line": 1,
        "column": 14,
        "refers_to": {"text": "word", "line": 2, "column": 1},
    }


def test_options_count(capsys) -> None:
    _, out, _ = run(capsys, "--tree", "--dialect", "ecma", notation="regex", grammar="(?<n>a)$")
    assert out.splitlines() == ["Group `n`: the text `a`", capitalised(catalogue_text("explanation.anchor.text_ends"))]


def test_a_broken_grammar_is_told_as_ever(capsys) -> None:
    code, out, err = run(capsys, "--tree", grammar="root ::= x")
    assert (code, out) == (1, "")
    assert catalogue_text("diagnostics.gbnf-no-root.message", start="x") in err


@pytest.mark.parametrize("arguments", [["--text", "a"], ["--model", "records"], ["--next", "a"], ["--dead-ends"]])
def test_it_is_about_the_grammar_alone(capsys, arguments: list[str]) -> None:
    with pytest.raises(SystemExit):
        run(capsys, "--tree", *arguments)
    assert "--tree" in capsys.readouterr().err
