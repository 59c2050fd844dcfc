"""The command line: what it prints, where, and with which exit code."""

from __future__ import annotations

import io
import json
import sys

import pytest
from catalogue_texts import shows
from command_line import run
from random_model import GivenModel, RandomModel

import engine.models
from engine.cli.exit_codes import COMMANDS
from engine.compile import NOTATIONS, compile_grammar
from engine.models import ModelError
from engine.source.catalogue import area_texts, catalogue_text
from engine.vocabulary import Vocabulary

LINE = r"[A-Z]+: [a-z]+\n"
REGEX = ("--notation", "regex", "--grammar")


@pytest.fixture
def model(monkeypatch):
    source = RandomModel()
    monkeypatch.setattr(engine.models, "load_model", lambda spec, *, cancel=None: source)
    return source


def type_in(monkeypatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


# check


def test_a_clean_grammar_is_silent(capsys):
    assert run("check", *REGEX, LINE) == 0
    assert capsys.readouterr() == ("", "")


def test_findings_have_a_place_a_severity_and_a_code(capsys):
    assert run("check", *REGEX, "a\n(b") == 1
    out, err = capsys.readouterr()
    assert out.startswith("<grammar>:2:1: error: ")
    assert out.endswith("[regex-unclosed-group]\n")
    assert err == ""


def test_a_warning_is_printed_and_is_no_error(capsys):
    assert run("check", *REGEX, r"a\bb") == 0
    assert ": warning: " in capsys.readouterr().out


def test_findings_as_json(capsys):
    assert run("check", *REGEX, "a\n(b", "--json") == 1
    document = json.loads(capsys.readouterr().out)
    assert document["ok"] is False
    finding = document["diagnostics"][0]
    assert finding["code"] == "regex-unclosed-group"
    assert finding["severity"] == "error"
    assert (finding["line"], finding["column"], finding["end_line"], finding["end_column"]) == (2, 1, 2, 2)
    assert run("check", *REGEX, LINE, "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"ok": True, "diagnostics": []}


def test_a_limit_is_a_finding(capsys):
    assert run("check", *REGEX, "(x{1000}){1000}") == 1
    assert capsys.readouterr().out.count(": error: ") == 1


def test_the_dialect_matters(capsys):
    assert run("check", *REGEX, "[]a]") == 0
    assert capsys.readouterr().out == ""
    assert run("check", *REGEX, "[]a]", "--dialect", "ecma") == 0
    assert "no text matches" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--grammar", "a"],
        ["--notation", "regex"],
        ["--notation", "nonsense", "--grammar", "a"],
        ["--notation", "regex", "--grammar", "a", "--grammar-file", "b"],
        ["--notation", "regex", "--gramm", "a"],
    ],
)
def test_misuse(arguments, capsys):
    assert run("check", *arguments) == 2
    assert capsys.readouterr().err.startswith("turnstile check: error: ")
    assert run("check", *REGEX, "a", "more") == 2


def test_every_notation_that_compiles_can_be_chosen(capsys):
    assert run("check", "--help") == 0
    shown = capsys.readouterr().out
    assert all(notation in shown for notation in NOTATIONS)


# where the grammar comes from


def test_a_file_is_named_in_its_findings(tmp_path, capsys):
    file = tmp_path / "broken.txt"
    file.write_bytes(b"\xef\xbb\xbf(a\r\n")
    assert run("check", "--notation", "regex", "--grammar-file", str(file)) == 1
    assert capsys.readouterr().out.startswith(f"{file}:1:1: error: ")


def test_stdin_and_its_last_line_end(monkeypatch, capsys, model):
    type_in(monkeypatch, b"(a\n\n")
    assert run("check", "--notation", "regex", "--grammar-file", "-") == 1
    assert capsys.readouterr().out.startswith("<stdin>:1:1: ")
    type_in(monkeypatch, b"abc\n")
    assert run("generate", "--notation", "regex", "--grammar-file", "-", "--model", "any") == 0
    assert capsys.readouterr().out == "abc"
    type_in(monkeypatch, b"abc\n\n")
    assert run("generate", "--notation", "regex", "--grammar-file", "-", "--model", "any") == 0
    assert capsys.readouterr().out == "abc\n"


@pytest.mark.parametrize(
    "command",
    [["check"], ["check", "--json"], ["generate", "--model", "any"], ["export", "--to", "dot", "--output", "-"]],
)
def test_files_that_cannot_be_read_are_misuse(command, tmp_path, capsys):
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe")
    for name in (str(tmp_path), str(tmp_path / "missing"), str(binary), "a\0b"):
        assert run(*command, "--notation", "regex", "--grammar-file", name) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert shows(err, "cli.file.unreadable" if name != str(binary) else "cli.file.not_utf8", name=name)
        assert err.count("\n") == 1


def test_an_argument_that_is_not_utf_8(capsys):
    assert run("check", *REGEX, "a\udcff") == 2
    assert shows(capsys.readouterr().err, "cli.argument.not_utf8")
    assert run("check", *REGEX, "\udcc3\udca9(") == 1  # how Python hands over UTF-8 in an ASCII locale
    assert capsys.readouterr().out.startswith("<grammar>:1:2: ")


# generate


def test_the_text_and_nothing_else_goes_to_stdout(capsys, model):
    assert run("generate", *REGEX, "[A-Z]{2}: [a-z]{3}", "--model", "any", "--seed", "3") == 0
    out, err = capsys.readouterr()
    assert compile_grammar("regex", "[A-Z]{2}: [a-z]{3}").fullmatch(out)
    assert err == ""
    assert run("generate", *REGEX, "[A-Z]{2}: [a-z]{3}", "--model", "any", "--seed", "3") == 0
    assert capsys.readouterr().out == out


def test_the_steps_as_json(capsys, model):
    assert run("generate", *REGEX, "A[bc]", "--model", "any", "--json", "--greedy") == 0
    document = json.loads(capsys.readouterr().out)
    assert list(document) == ["text", "finish", "complete", "steps"]
    assert document["finish"] == "stop"
    assert "".join(step["token"] for step in document["steps"]) == document["text"]
    assert list(document["steps"][0]) == ["id", "token", "p", "p_masked", "z", "allowed", "forced", "origin"]
    first, second = document["steps"]
    assert (first["token"], first["p_masked"], first["allowed"], first["forced"]) == ("A", 1.0, 1, True)
    assert first["p"] == pytest.approx(first["z"])
    assert (second["allowed"], second["forced"]) == (2, False)


def test_tokens_that_are_no_text_stay_apart_in_json(capsys, monkeypatch):
    vocabulary = Vocabulary([b"\xc3", b"\xa9", None], [2], {2: "<end>"})
    monkeypatch.setattr(engine.models, "load_model", lambda spec, *, cancel=None: RandomModel(vocabulary))
    assert run("generate", *REGEX, "é", "--model", "any", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["text"] == "é"
    assert [step["token"] for step in document["steps"]] == ["\\xc3", "\\xa9", "<end>"]


def test_a_text_cut_short_says_so_on_stderr(capsys, model):
    assert run("generate", *REGEX, LINE, "--model", "any", "--max-tokens", "1", "--json") == 3
    assert json.loads(capsys.readouterr().out)["finish"] == "length"
    assert run("generate", *REGEX, LINE, "--model", "any", "--max-tokens", "1") == 3
    out, err = capsys.readouterr()
    assert len(out) == 1
    assert shows(err, "cli.generate.stopped.early", count=1)


def test_a_full_context_is_told_as_such(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(engine.models, "load_model", lambda spec, *, cancel=None: RandomModel(context_length=5))
    assert run("generate", *REGEX, "[a-z]{99}", "--model", "any", "--json") == 3
    printed = capsys.readouterr().out
    assert json.loads(printed)["finish"] == "context"
    assert run("generate", *REGEX, "[a-z]{99}", "--model", "any") == 3
    assert shows(capsys.readouterr().err, "cli.generate.stopped.context", size=5)
    saved = tmp_path / "generated.json"
    saved.write_text(printed)
    run("replay", *REGEX, "[a-z]{99}", "--trace", str(saved))
    assert shows(capsys.readouterr().out, "verdicts.cut_off.by_context")


def test_where_to_stop_without_eos(capsys, model):
    assert run("generate", *REGEX, "a{2,4}", "--model", "any", "--stop", "first") == 0
    assert capsys.readouterr().out == "aa"
    assert run("generate", *REGEX, "a{2,4}", "--model", "any") == 0
    assert capsys.readouterr().out == "aaaa"


def test_the_prompt_and_the_sampler_reach_the_model(capsys, monkeypatch):
    vocabulary = Vocabulary([b"a", b"b", b"c", None], [3])
    source = GivenModel(vocabulary, [3.0, 2.9, -3.0, 0.0])
    monkeypatch.setattr(engine.models, "load_model", lambda spec, *, cancel=None: source)
    common = ("generate", *REGEX, "[abc]{6}", "--model", "any", "--prompt", "cb")
    assert run(*common, "--greedy") == 0
    assert source.asked[0] == (2, 1)
    assert run(*common, "--temperature", "0") == 0
    assert run(*common, "--top-k", "1") == 0
    assert run(*common, "--top-p", "0.1") == 0
    assert run(*common, "--min-p", "1") == 0
    assert capsys.readouterr().out == "aaaaaa" * 5
    assert run(*common, "--greedy", "--repetition-penalty", "1.5") == 0
    assert capsys.readouterr().out == "aaaaaa"  # 2.9 / 1.5 < 3.0 / 1.5, and c is below 0
    assert run("generate", *REGEX, "[abc]{2}", "--model", "any", "--greedy", "--repetition-penalty", "1.5") == 0
    assert capsys.readouterr().out == "ba"  # an empty prompt is `a` to this model


@pytest.mark.parametrize(
    "wrong",
    [
        ["--temperature", "-1"],
        ["--temperature", "nan"],
        ["--temperature", "hot"],
        ["--top-p", "0"],
        ["--top-p", "1.1"],
        ["--min-p", "2"],
        ["--top-k", "-1"],
        ["--repetition-penalty", "0"],
        ["--seed", "-1"],
        ["--max-tokens", "0"],
        ["--max-tokens", "x"],
        ["--stop", "never"],
        ["--greedy", "--temperature", "1"],
    ],
)
def test_settings_out_of_bounds_are_misuse(wrong, capsys, model):
    assert run("generate", *REGEX, "a", "--model", "any", *wrong) == 2
    assert "error: argument" in capsys.readouterr().err


def test_a_broken_grammar_loads_no_model(capsys, monkeypatch):
    monkeypatch.setattr(engine.models, "load_model", lambda *_, **__: pytest.fail("loaded"))
    assert run("generate", *REGEX, "(a", "--model", "any") == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("<grammar>:1:1: error: ")


def test_a_number_that_is_none_is_said_in_words(capsys):
    assert run("generate", *REGEX, "a", "--model", "any", "--seed", "x") == 2
    assert shows(capsys.readouterr().err, "cli.argument.not_integer", text="'x'")


def test_a_grammar_that_nothing_matches_loads_no_model(capsys, monkeypatch):
    monkeypatch.setattr(engine.models, "load_model", lambda *_, **__: pytest.fail("loaded"))
    assert run("generate", *REGEX, r"[^\s\S]", "--model", "any") == 1
    assert shows(capsys.readouterr().err, "cli.generate.error.no_text")


def test_a_model_that_cannot_be_had_is_one_line(capsys, monkeypatch):
    def refuse(spec: str, *, cancel: object = None) -> None:
        raise ModelError("errors.models.unknown", spec=spec, forms="a\nb")

    monkeypatch.setattr(engine.models, "load_model", refuse)
    assert run("generate", *REGEX, "a", "--model", "nope") == 1
    line = catalogue_text("errors.models.unknown", spec="nope", forms="a b")
    assert capsys.readouterr() == ("", f"turnstile: {line}\n")


def test_a_dead_end_is_an_error(capsys, model):
    assert run("generate", *REGEX, "Aé", "--model", "any") == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"turnstile: {catalogue_text('cli.generate.error.no_token_follows', text='A', model='any')}\n"


# export


def test_the_automaton_as_dot(tmp_path, capsys):
    file = tmp_path / "a.dot"
    assert run("export", "--to", "dot", *REGEX, "ab", "--output", str(file)) == 0
    assert "digraph" in file.read_text()
    out, err = capsys.readouterr()
    assert out == ""
    assert shows(err, "export.checked.walks")
    assert run("export", "--to", "dot", *REGEX, "ab", "--output", "-") == 0
    assert capsys.readouterr().out == file.read_text()


def test_the_token_index_of_a_model(tmp_path, capsys, model):
    file = tmp_path / "a.json"
    assert run("export", "--to", "json", *REGEX, "A", "--model", "any", "--output", str(file)) == 0
    document = json.loads(file.read_text())
    assert document["transitions"]["0"] == {"0": 1}
    assert document["vocabulary"]["fingerprint"] == model.vocabulary.fingerprint


def test_export_asks_for_what_it_needs(tmp_path, capsys):
    file = str(tmp_path / "a")
    assert run("export", "--to", "json", *REGEX, "A", "--output", file) == 2
    assert run("export", "--to", "json", *REGEX, "A", "--model", "a", "--tokenizer", "b", "--output", file) == 2
    assert run("export", "--to", "yaml", *REGEX, "A", "--output", file) == 2
    assert run("export", "--to", "dot", *REGEX, "A") == 2
    capsys.readouterr()


def test_export_failures_are_one_line(tmp_path, capsys):
    blocked = str(tmp_path / "no" / "a.dot")
    assert run("export", "--to", "dot", *REGEX, "ab", "--output", blocked) == 1
    reason = catalogue_text("export.writing.fragment.failed", path=blocked, reason="No such file or directory")
    assert capsys.readouterr().err == f"turnstile: {reason}\n"
    assert run("export", "--to", "dot", *REGEX, "(?=.*a).{0,3000}", "--output", "-") == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert shows(err, "errors.limit.more")
    missing = str(tmp_path / "tokenizer.json")
    assert run("export", "--to", "json", *REGEX, "a", "--tokenizer", missing, "--output", "-") == 1
    assert capsys.readouterr().err.startswith("turnstile: ")


# the rest


def test_version_and_help(capsys):
    assert run("--version") == 0
    assert capsys.readouterr().out.startswith("turnstile ")
    assert run("--help") == 0
    shown = capsys.readouterr().out
    assert all(command in shown for command in ("generate", "check", "export"))
    assert run("nonsense") == 2


def test_an_interrupt_is_quiet(monkeypatch, capsys, model):
    def interrupt(ids: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(model, "logits", interrupt)
    assert run("generate", *REGEX, "a", "--model", "any") == 130
    assert capsys.readouterr() == ("", "turnstile: cancelled\n")


def test_every_option_group_and_command_has_its_text_and_no_text_is_left_over(monkeypatch, capsys):
    read = set()

    def record(key: str, /, **fields: object) -> str:
        read.add(key.removeprefix("cli."))
        return catalogue_text(key, **fields)

    for module in ("arguments", "generate", "sample"):
        monkeypatch.setattr(f"engine.cli.{module}.catalogue_text", record)
    for command in ([], *([name] for name in COMMANDS)):
        assert run(*command, "--help") == 0
    parts = ("option", "group", "summary", "description")
    assert read == {key for key in area_texts("cli") if set(key.split(".")) & set(parts)}
