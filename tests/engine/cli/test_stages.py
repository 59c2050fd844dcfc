"""The pipeline's options of `generate`."""

from __future__ import annotations

import json
import re

import pytest
from catalogue_texts import shows
from random_model import LETTERS, RandomModel

import engine.models
from engine.cli.main import main
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary

REGEX = ("--notation", "regex", "--grammar")


@pytest.fixture(autouse=True)
def model(monkeypatch):
    source = RandomModel()
    monkeypatch.setattr(engine.models, "load_model", lambda spec, *, cancel=None: source)
    return source


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    try:
        code = main(["generate", "--model", "any", *arguments])
    except SystemExit as leave:  # argparse
        code = int(leave.code or 0)
    return code, *capsys.readouterr()


def test_static_pattern_table_and_regex_write_the_same(tmp_path, capsys):
    letters = [LETTERS.index(bytes((byte,))) for byte in b"abcdefghijklmnopqrstuvwxyz"]
    rows = [(state, letter, state + 1) for state in range(1, 6) for letter in letters]
    table = tmp_path / "table.json"
    table.write_text(json.dumps({"initial": 1, "transitions": [*rows, (6, LETTERS.index(b"\n"), 7)]}))
    ways = (
        ("--static", "LOWER{5} NEWLINE"),
        ("--pattern", "LOWER{5} NEWLINE"),
        ("--table", str(table)),
        (*REGEX, r"[a-z]{5}\n"),
    )
    written = [run(capsys, *way, "--seed", "4") for way in ways]
    assert len(set(written)) == 1
    assert written[0][0] == 0
    assert len(written[0][1]) == 6


def test_within_the_budget_the_output_is_complete(capsys):
    grammar = (*REGEX, r"[a-z]*\n\n", "--max-tokens", "9")
    code, out, err = run(capsys, *grammar, "--seed", "1")
    assert shows(err, "cli.generate.stopped.early", count=9)
    code, out, err = run(capsys, *grammar, "--seed", "1", "--within-budget")
    assert (code, err) == (0, "")
    assert out.endswith("\n\n")
    assert len(out) <= 9
    code, out, err = run(capsys, *REGEX, "[a-z]*", "--max-tokens", "5", "--within-budget")
    assert (code, err, len(out)) == (0, "", 5)  # used up, and complete


def test_within_the_budget_a_condition_on_the_end_is_met(capsys):
    for seed in range(8):
        code, out, err = run(
            capsys, *REGEX, "(?:(?!E$)[A-F])*", "--max-tokens", "6", "--within-budget", "--seed", str(seed)
        )
        assert (code, err) == (0, "")
        assert not out.endswith("E")


def test_a_budget_that_is_too_small_says_what_is_needed(capsys):
    code, out, err = run(capsys, *REGEX, "abcde", "--max-tokens", "4", "--within-budget")
    assert (code, out) == (1, "")
    assert shows(err, "decoding.empty.budget")
    assert catalogue_text("decoding.expected.ending", wanted=5, left=4) in err


def test_suppressed_texts_and_tokens_are_not_written(capsys):
    for seed in range(8):
        options = (
            "--suppress",
            "e",
            "--suppress",
            "ab",
            "--suppress-token",
            "27",
            "--bias",
            "x=1.5",
            "--suppress-token",
            "26",
        )
        code, out, _ = run(capsys, *REGEX, "[a-f]{20}", *options, "--seed", str(seed))
        assert code == 0
        assert not set("abe") & set(out)


def test_a_trigger_comes_first(capsys):
    code, out, _ = run(
        capsys,
        *REGEX,
        "[A-C]{2}",
        "--after",
        ": ",
        "--until",
        "\n",
        "--max-tokens",
        "40",
        "--within-budget",
        "--seed",
        "2",
    )
    assert code == 0
    before, _, after = out.partition(": ")
    assert ": " not in before
    assert after[2:] == "\n"


def test_further_parts_have_grammars_of_their_own(capsys, tmp_path):
    zones = tmp_path / "zones.json"
    zones.write_text('[{"after": "d:", "notation": "gbnf", "grammar": "root ::= [x-z]{3}", "until": "\\n"}]', "utf-8")
    options = ("--after", "u:", "--until", "\n", "--then", "again", "--zones", str(zones), "--max-tokens", "400")
    options = (*options, "--bias", ":=2", "--bias", "d=2", "--bias", "u=2")
    met = set()
    for seed in range(6):
        code, out, _ = run(capsys, *REGEX, "[A-C]{2}", *options, "--within-budget", "--seed", str(seed))
        assert code == 0
        rest = out
        while found := re.search("[ud]:", rest):
            wanted = "[A-C]{2}\n" if found[0] == "u:" else "[x-z]{3}\n"
            assert re.match(wanted, rest[found.end() :])
            met.add(found[0])
            rest = rest[found.end() :]
    assert met == {"u:", "d:"}


@pytest.mark.parametrize(
    ("written", "code", "what"),
    [
        ("[", 2, "cli.file.not_json"),
        ("[" * 100_000, 2, "cli.file.not_json"),
        ("{}", 2, "cli.generate.error.not_a_list"),
        ("[1]", 2, "cli.generate.error.not_an_object"),
        ('[{"trigger": "a"}]', 2, "cli.generate.error.unknown_key"),
        ('[{"after": "b", "notation": "yaml", "grammar": "x"}]', 2, "cli.generate.error.unknown_notation"),
        ('[{"notation": "regex", "grammar": "x"}]', 2, "errors.decoding.zones.no_trigger"),
        ('[{"after": "b"}]', 2, "errors.decoding.zones.no_end"),
        ('[{"after": "u:", "until": "."}]', 2, "errors.decoding.zones.same_trigger"),
        ('[{"after": "xu:", "until": "."}]', 2, "errors.decoding.zones.hidden_trigger"),
        ('[{"after": "b", "notation": "regex", "grammar": "(x"}]', 1, "errors.decoding.zones.compile"),
        ('[{"after": "b", "notation": "regex", "grammar": "[^\\\\s\\\\S]"}]', 1, "errors.decoding.zones.no_text"),
    ],
)
def test_what_is_wrong_with_a_further_part_is_told(written, code, what, capsys, tmp_path):
    zones = tmp_path / "zones.json"
    zones.write_text(written, "utf-8")
    assert run(capsys, *REGEX, "a", "--after", "u:", "--zones", str(zones))[0] == code
    _, out, err = run(capsys, *REGEX, "a", "--after", "u:", "--zones", str(zones))
    assert out == ""
    assert shows(err, what)


def test_forced_runs_are_not_asked_for(capsys):
    asked = {}
    for strategy in ("none", "longest", "own", "probable"):
        code, out, _ = run(capsys, *REGEX, "name: (John|Paul) who is", "--forced", strategy, "--json")
        steps = json.loads(out)["steps"]
        assert code == 0
        assert all((step["p"] is None) == (step["origin"] == "fast-forwarded") for step in steps)
        asked[strategy] = sum(step["p"] is not None for step in steps)
    assert asked["none"] == len("name: John who is")
    assert asked["longest"] == asked["own"] == 1


def test_a_special_token_begins_it(monkeypatch, capsys):
    words = Vocabulary([b"x", b"1", None, None], [3], {2: "<go>", 3: "<end>"})
    monkeypatch.setattr(engine.models, "load_model", lambda spec, *, cancel=None: RandomModel(words))
    code, out, _ = run(
        capsys, *REGEX, "1{2}", "--after-token", "<go>", "--json", "--max-tokens", "12", "--within-budget"
    )
    steps = [step["token"] for step in json.loads(out)["steps"]]
    assert code == 0
    assert steps[steps.index("<go>") :] == ["<go>", "1", "1", "<end>"]
    code, _, err = run(capsys, *REGEX, "1{2}", "--after-token", "<stop>")
    assert (code, err) == (1, "turnstile: " + catalogue_text("errors.decoding.zones.no_token", name="<stop>") + "\n")


def test_the_order_is_the_users(capsys):
    given = (*REGEX, "z+", "--top-k", "1", "--max-tokens", "3")
    assert run(capsys, *given)[0] == 0
    code, _, err = run(capsys, *given, "--order", "top-k, grammar")
    assert code == 1
    assert shows(err, "decoding.empty.removed_before")


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ((), "cli.generate.error.notation_required"),
        (("--notation", "regex"), "cli.generate.error.grammar"),
        (("--grammar", "a"), "cli.generate.error.grammar"),
        (("--pattern", "LOWER", "--within-budget"), "cli.generate.error.notation_required"),
        (("--pattern", "LOWER", "--forced", "own"), "cli.generate.error.notation_required"),
        (("--pattern", "lower"), "errors.decoding.pattern.unreadable"),
        ((*REGEX, "a", "--bias", "a"), "cli.generate.error.bias_equals"),
        ((*REGEX, "a", "--bias", "a=b"), "cli.generate.error.bias_number"),
        ((*REGEX, "a", "--bias", "a=-inf"), "errors.decoding.setting.bias"),
        ((*REGEX, "a", "--suppress", ""), "errors.decoding.empty_text"),
        ((*REGEX, "a", "--order", "grammar,budge"), "errors.decoding.stages.unknown"),
        ((*REGEX, "a", "--optional"), "cli.generate.error.optional"),
        ((*REGEX, "a", "--then", "again"), "errors.decoding.zones.again"),
        (("--table", "no-such-file.json"), "cli.file.unreadable"),
    ],
)
def test_misuse_is_told_on_one_line(arguments, what, capsys):
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert shows(err, what)


def test_a_table_that_is_none_is_told_with_its_form(tmp_path, capsys):
    for text in ("[]", "{", '{"initial": 1, "transitions": [[1, 2]]}', '{"transitions": []}'):
        (tmp_path / "table.json").write_text(text)
        code, _, err = run(capsys, "--table", str(tmp_path / "table.json"))
        assert code == 2
        assert shows(err, "cli.generate.error.table") or shows(err, "cli.file.not_of_form")
