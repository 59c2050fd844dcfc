"""GBNF, EBNF, Lark and regexes: each reads back as the grammar, or says why it cannot be."""

from __future__ import annotations

import re

import pytest
from catalogue_texts import shows
from error_keys import raises_key
from exports import EMPTY, GRAMMARS, TOKENS, job_of

from engine.compile import compile_grammar
from engine.export import close_objects
from engine.export.schema.settings import NumberSpelling
from engine.export.target import Artifact, MismatchError
from engine.export.targets import target
from engine.export.writing import export, make, refusal
from engine.source import EngineError
from engine.source.catalogue import catalogue_text

TEXTS = ("gbnf", "ebnf", "lark", "regex")
REFUSED = {
    ("gbnf", "hidden left recursion"): catalogue_text("export.refusal.fragment.gbnf_left_recursion", rule="root"),
    ("gbnf", "left by another way"): catalogue_text("export.refusal.fragment.gbnf_left_recursion", rule="root"),
    ("ebnf", "hidden left recursion"): catalogue_text("export.refusal.fragment.ebnf_left_recursion", rule="root"),
    ("ebnf", "left by another way"): catalogue_text("export.refusal.fragment.ebnf_left_recursion", rule="root"),
    ("regex", "nested to the left"): catalogue_text("export.refusal.fragment.nests_without_bound"),
    ("regex", "left by another way"): catalogue_text("export.refusal.fragment.nests_without_bound"),
    ("regex", "heading"): catalogue_text("export.refusal.fragment.already_regex"),
    ("regex", "beyond ASCII"): catalogue_text("export.refusal.fragment.already_regex"),
    ("regex", "hostile"): catalogue_text("export.refusal.fragment.already_regex"),
    ("regex", "nested"): catalogue_text("export.refusal.fragment.nests_without_bound"),
    ("regex", "hidden left recursion"): catalogue_text("export.refusal.fragment.nests_without_bound"),
    ("regex", "tree"): catalogue_text("export.refusal.fragment.nests_without_bound"),
    ("regex", "open"): close_objects(),
}


@pytest.mark.parametrize("case", GRAMMARS)
@pytest.mark.parametrize("name", TEXTS)
def test_a_text_reads_back_as_the_grammar(name, case):
    job, one = job_of(case), target(name)
    assert refusal(one, job) == REFUSED.get((name, case), "")
    if (name, case) in REFUSED:
        with pytest.raises(EngineError, match=r"already|recursion|nest|stack"):
            make(name, job)
        return
    artifact = make(name, job)
    checked = one.check(artifact, job)
    assert (checked.walks, checked.steps > 0) == (40, True)
    assert shows(checked.sentence, "export.checked.walks", count=40)
    if name != "regex":
        text = artifact.content.decode()
        assert "Written by Turnstile" in text
        lines = [line.strip() for line in job.compiled.source.text.split("\n") if line.isprintable()]
        assert all(line in text for line in lines)


@pytest.mark.parametrize("name", ["gbnf", "ebnf", "lark"])
@pytest.mark.parametrize("case", ["person", "names"])
@pytest.mark.parametrize("whitespace", ["compact", "one-space", "any"])
def test_every_spelling_holds_every_text(name, case, whitespace):
    job = job_of(case, spelling=NumberSpelling.ANY, whitespace=whitespace)
    artifact = make(name, job)
    assert artifact.notes == ()
    assert target(name).check(artifact, job).steps > 0


def test_a_depth_makes_a_regex_of_what_nests():
    job = job_of("tree", depth=2, whitespace="compact")
    artifact = make("regex", job)
    assert artifact.notes[-1] == catalogue_text("export.note.fragment.cut", depth=2)
    pattern = compile_grammar("regex", artifact.content.decode())
    assert pattern.fullmatch('{"value":1,"children":[{"value":2}]}')
    assert not pattern.fullmatch('{"value":1,"children":[{"value":2,"children":[{"value":3}]}]}')
    assert target("regex").check(artifact, job).walks == 40


def test_a_regex_that_looks_around_becomes_one_that_does_not():
    text = make("regex", job_of(("regex", r"(?=.*[0-9])(?!.*ab)[a-z0-9]{2,4}|x\b-"))).content.decode()
    assert "(?=" not in text
    assert "\\b" not in text
    pattern = compile_grammar("regex", text)
    assert [pattern.fullmatch(one) for one in ("a1", "ab1", "abc", "x-", "12345")] == [True, False, False, True, False]


def test_a_regex_is_the_whole_file(tmp_path):
    """A program that reads the file passes on all of it: a line end would be part of the expression."""
    path = tmp_path / "id.regex"
    export("regex", job_of(("gbnf", 'root ::= [0-9]{4} "-" [a-f]+')), path)
    assert path.read_bytes() == b"[0-9]{4}-[a-f]+"
    assert re.fullmatch(path.read_text(), "2024-ab")


@pytest.mark.parametrize("name", TEXTS)
def test_what_has_no_text_is_refused(name):
    assert refusal(target(name), job_of(EMPTY))


@pytest.mark.parametrize("name", ["ebnf", "lark", "regex"])
def test_tokens_taken_whole_are_refused(name):
    assert refusal(target(name), job_of(TOKENS)) == catalogue_text("export.refusal.fragment.names_tokens")


def test_gbnf_keeps_tokens_and_says_what_was_not_walked():
    job = job_of(TOKENS)
    artifact = make("gbnf", job)
    assert "root ::= <think>" in artifact.content.decode()
    assert catalogue_text("export.scope.tokens") in target("gbnf").check(artifact, job).sentence


@pytest.mark.parametrize("name", ["gbnf", "ebnf", "lark"])
def test_rules_that_begin_with_themselves_become_loops(name):
    artifact = make(name, job_of("nested to the left"))
    assert artifact.notes == (catalogue_text("export.note.fragment.as_loops"),)
    text = artifact.content.decode()
    assert 'item ("+" item)*' in text
    job = job_of(("gbnf", 'root ::= other "a" | "x"\nother ::= root "b" | "c"'))
    regular = make(name, job)
    assert regular.notes == (catalogue_text("export.note.fragment.rewritten"),)
    assert target(name).check(regular, job).steps > 0


def test_gbnf_leaves_out_what_leads_nowhere():
    """llama.cpp would allow its beginning, and be stuck there: found by running it, see `tests.llama_cpp`."""
    text = make("gbnf", job_of("dead part")).content.decode().partition("# Source")[0]
    assert "dead" not in text
    assert '"a"' not in text
    alive = make("gbnf", job_of(("gbnf", "root ::= [^a] .{2} unused?\nunused ::= .")))
    assert "root ::= [^a] .{2} unused?" in alive.content.decode()  # else it stays as its author wrote it


def test_gbnf_is_written_anew_for_llama_cpp():
    text = make("gbnf", job_of(("gbnf", 'root ::= my_rule{3000}\nmy_rule ::= "a"'))).content.decode()
    rules = [line for line in text.splitlines() if not line.startswith("#")]
    assert rules[0] == "root ::= root-block{3}"
    assert not any("_" in line for line in rules)
    assert compile_grammar("gbnf", text).fullmatch("a" * 3000)


def test_a_schema_that_no_rules_can_say_is_refused_before_it_is_made():
    job = job_of(("json_schema", '{"uniqueItems": true}'))
    for name in (*TEXTS, "requests", "svg", "graphml", "jflap"):
        assert shows(refusal(target(name), job), "diagnostics.export-not-context-free.message", where="/uniqueItems")


@pytest.mark.parametrize("name", ["gbnf", "ebnf", "lark"])
@pytest.mark.parametrize("change", [("A-Z", "B-Z"), ("]+", "]*"), ("]/+", "]/*"), ("a-z", "a-"), ('"\\n"', '"\\r"')])
def test_a_check_finds_what_is_different(name, change):
    job = job_of("heading")
    lines = make(name, job).content.decode().splitlines(keepends=True)
    rules = [line for line in lines if not line.startswith(("#", "//"))]
    changed = [line.replace(*change) for line in rules]
    if changed == rules:
        assert change in (("]+", "]*"), ("]/+", "]/*"))  # one of them is Lark's
        return
    with pytest.raises(MismatchError):
        target(name).check(Artifact((("x", "".join(changed).encode()),)), job)


@pytest.mark.parametrize(
    "text", ["", "start: ", 'start: "a', "start: (", 'start: "a" )', "begin: b", 'start: "a"\n%x', "start: x|"]
)
def test_lark_that_was_not_written_here_is_refused(text):
    with raises_key(MismatchError, "errors.export.checks.unreadable"):
        target("lark").check(Artifact((("x", text.encode()),)), job_of("heading"))
