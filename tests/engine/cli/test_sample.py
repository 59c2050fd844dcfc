"""`turnstile sample`: texts of a strategy, and its numbers beside the exact distribution."""

from __future__ import annotations

import json

import pytest
from command_line import run
from random_model import RandomModel

import engine.models
from engine.cli.exit_codes import ExitCode
from engine.decoding.strategies.decoders import DECODERS
from engine.source.catalogue import catalogue_text

TEXTS = ("Ab", "Ac", "Bd", "Be")
GRAMMAR = ("--notation", "regex", "--grammar", "|".join(TEXTS), "--model", "any", "--samples", "12")


@pytest.fixture(autouse=True)
def model(monkeypatch):
    monkeypatch.setattr(engine.models, "load_model", lambda spec, *, cancel=None: RandomModel(spread=1.0))


def document(capsys, *options):
    assert run("sample", *GRAMMAR, *options, "--json") == ExitCode.SUCCESS
    return json.loads(capsys.readouterr().out)


def test_the_document_has_texts_and_numbers(capsys):
    found = document(capsys, "--strategy", "cars", "--seed", "4")
    assert set(found["texts"][0]) >= {"text", "p", "weight", "count"}
    assert sum(one["count"] for one in found["texts"]) == found["accepted"] == 12
    assert sum(one["weight"] for one in found["texts"]) == pytest.approx(1)
    assert found["tries"] >= 12
    assert (found["kl"], found["tv"]) == (None, None)
    low, high = found["p_grammar_bounds"]
    assert 0 < low <= high < 1
    assert found == document(capsys, "--strategy", "cars", "--seed", "4")
    assert found["texts"] != document(capsys, "--strategy", "cars", "--seed", "5")["texts"]


def test_the_exact_distribution_adds_distances(capsys):
    found = document(capsys, "--strategy", "asap", "--exact")
    assert found["kl"] < 0.01
    assert found["tv"] < 0.1
    assert found["compared"] == "strategy"
    for one in found["texts"]:
        assert one["p"] == pytest.approx(one["p_given_grammar"] * found["p_grammar"])


@pytest.mark.parametrize("name", DECODERS.names)
def test_every_strategy_prints_its_texts(name, capsys):
    assert run("sample", *GRAMMAR, "--strategy", name, "--exact") == ExitCode.SUCCESS
    shown = capsys.readouterr().out
    assert any(text in shown for text in TEXTS)


def test_runs_are_pooled(capsys):
    assert document(capsys, "--strategy", "smc", "--runs", "5")["tries"] == 5 * 12


def test_limits_end_a_run(capsys):
    assert document(capsys, "--strategy", "local", "--max-calls", "9")["calls"] <= 9
    assert run("sample", *GRAMMAR, "--strategy", "local", "--max-calls", "1") == ExitCode.NEGATIVE
    assert "1" in capsys.readouterr().err


def test_an_unknown_strategy_is_misuse(capsys):
    assert run("sample", *GRAMMAR, "--strategy", "nonsense") == ExitCode.MISUSE
    assert "cars" in capsys.readouterr().err


def test_all_outputs_above_a_mass_are_listed_with_bounds(capsys):
    exact = document(capsys, "--strategy", "local", "--samples", "200", "--exact")
    known = {one["text"]: one["p_given_grammar"] for one in exact["texts"]}
    found = document(capsys, "--tree", "0.000001")
    assert found["is_complete"]
    for one in found["texts"]:
        low, high = one["p_given_grammar_bounds"]
        assert low * (1 - 1e-9) <= known[one["text"]] <= high * (1 + 1e-9)
    assert run("sample", *GRAMMAR, "--tree", "0.01", "--measure", "local") == ExitCode.SUCCESS
    assert any(text in capsys.readouterr().out for text in TEXTS)


def test_a_search_that_finds_nothing_says_why(capsys):
    assert run("sample", *GRAMMAR, "--tree", "1", "--measure", "model") == ExitCode.NEGATIVE
    assert "--tree" in capsys.readouterr().err
    assert run("sample", *GRAMMAR, "--tree", "0.1", "--max-calls", "1") == ExitCode.NEGATIVE
    assert "--max-calls" in capsys.readouterr().err


def test_a_strategy_and_a_mass_exclude_each_other(capsys):
    assert run("sample", *GRAMMAR) == ExitCode.MISUSE
    assert run("sample", *GRAMMAR, "--strategy", "cars", "--tree", "0.1") == ExitCode.MISUSE
    assert run("sample", *GRAMMAR, "--tree", "0") == ExitCode.MISUSE


def test_the_probability_of_a_continuation_is_1_where_the_grammar_leaves_one_choice(capsys):
    options = ("sample", "--continuation", "A", "--notation", "regex", "--grammar", "Ab|Ac", "--model", "any")
    assert run(*options, "--json") == ExitCode.SUCCESS
    found = json.loads(capsys.readouterr().out)
    assert found["masked"] == {"written_bounds": [1.0, 1.0], "begins_bounds": [1.0, 1.0]}
    assert 0 < found["alone"]["written_bounds"][0] < 1
    assert (found["spellings"], found["calls"]) == (1, 1)
    assert run(*options) == ExitCode.SUCCESS
    assert catalogue_text("cli.sample.continuation.cost", spellings=1, calls=1) in capsys.readouterr().out
