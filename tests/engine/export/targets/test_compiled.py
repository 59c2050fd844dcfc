"""The compiled forms: token index and tables as JSON, arrays as safetensors, the folder of plain Python."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from catalogue_texts import shows
from error_keys import raises_code, raises_key
from exports import RULES, job, vocabulary
from fuzzing import LIMITS, compiles_or_is_refused, fuzz
from hypothesis import given
from safetensors import safe_open

from engine.compile import CompileOptions, compile_grammar
from engine.export.checks import walk_tokens
from engine.export.runtimes import GUIDE, TRANSFORMERS, VLLM, runtime_files
from engine.export.schema.settings import NumberSpelling
from engine.export.tables.finite import whole_token_index
from engine.export.tables.token_index import MOST_STATES
from engine.export.target import Artifact, ExportJob, ExportOptions, MismatchError, NotExportableError
from engine.export.targets import target
from engine.export.targets.json import index_recogniser
from engine.export.writing import check, export, fits, make, refusal
from engine.matching import Matcher
from engine.source import LimitExceededError, Limits
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary

VOCABULARY = vocabulary()
FLAT = '{"type": "object", "properties": {"a": {"enum": [1, "b"]}}, "required": ["a"], "additionalProperties": false}'
# What recurses to both sides by way of others may have thousands of configurations, of a thousand alternatives each.
SMALL = CompileOptions(limits=replace(LIMITS, configurations=200, threads=100))
NESTED = 'root ::= "(" root ")" | [a-z]+'
CASES = {
    "regex": ("regex", "[0-9]{2}(ab|é)*"),
    "nothing": ("regex", r"a\bb"),
    "the empty text": ("regex", ""),
    "regular rules": ("gbnf", 'root ::= x x\nx ::= "a" | "ab"'),
    "nested": ("gbnf", NESTED),
    "whole tokens": ("gbnf", "root ::= <think> [a-z]+"),
    "whole or spelled": ("gbnf", 'root ::= (<[256]> | "a" "b" "c"? | !<[97]> ".")* "!"'),
    "flat schema": ("json_schema", FLAT),
    "open schema": ("json_schema", '{"type": "object"}'),
    "recursive schema": ("json_schema", '{"type": "array", "items": {"$ref": "#"}}'),
}


def spelled(of: ExportJob, spelling: NumberSpelling) -> ExportJob:
    return ExportJob(of.compiled, of.vocabulary, ExportOptions(spelling=spelling))


@pytest.mark.parametrize("spelling", NumberSpelling)
@pytest.mark.parametrize("case", CASES)
def test_json_is_checked(case, spelling, tmp_path):
    of = spelled(job(*CASES[case], VOCABULARY, whitespace="compact"), spelling)
    path = tmp_path / "grammar.json"
    found = export("json", of, path)
    document = json.loads(path.read_text("utf-8"))
    is_index = case not in ("nested", "open schema", "recursive schema")
    assert document["format"] == ("turnstile-token-index" if is_index else "turnstile-rule-automata")
    assert document["source"] == of.compiled.source.text
    assert document["vocabulary"]["fingerprint"] == VOCABULARY.fingerprint
    assert document["generator"].startswith("Turnstile")
    assert found.check.walks == 24
    assert bool(found.notes) == (case.endswith("schema") and spelling is NumberSpelling.PLAIN)
    assert document["notes"] == list(found.notes)


def test_json_of_rules_needs_no_vocabulary():
    of = job("gbnf", NESTED, None)
    made = make("json", of)
    assert "tokens" not in json.loads(made.content)
    assert catalogue_text("export.compared.fragment.rule_tables") in check("json", made, of).sentence
    wrong = made.content.replace(b"[97,122]", b"[97,121]")
    assert wrong != made.content
    with pytest.raises(MismatchError):
        check("json", Artifact((("grammar.json", wrong),)), of)
    assert refusal(target("json"), job("regex", "a", None)) == catalogue_text("export.refusal.fragment.no_vocabulary")
    assert refusal(target("json"), job("json_schema", FLAT, None)) == ""


def limited(of, **limits):
    """The same job within other limits."""
    options = replace(of.compiled.options, limits=Limits(**limits))
    compiled = compile_grammar(of.compiled.notation, of.compiled.source, options)
    return replace(of, compiled=compiled)


def test_json_of_a_schema_whose_index_is_too_large_is_its_rules():
    of = limited(job("json_schema", FLAT, VOCABULARY, whitespace="compact"), table_transitions=3)
    made = make("json", of)
    assert json.loads(made.content)["format"] == "turnstile-rule-automata"
    assert catalogue_text("export.compared.fragment.tables") in check("json", made, of).sentence
    with raises_key(LimitExceededError, "errors.limit.index_transitions", limit=3) as caught:
        make("safetensors", of)
    assert caught.value.name == "table_transitions"


def test_the_states_of_an_index_have_a_limit_that_can_be_raised():
    of = job("json_schema", FLAT, VOCABULARY, whitespace="compact")
    with raises_key(LimitExceededError, "errors.limit.automaton_states", limit=3) as caught:
        make("safetensors", limited(of, table_states=3))
    assert caught.value.name == "table_states"
    assert make("safetensors", limited(of, table_states=1000)).size


@pytest.mark.parametrize(
    "case",
    ["regex", "nothing", "the empty text", "regular rules", "whole or spelled", "flat schema"],
)
def test_safetensors_is_read_by_its_own_library(case, tmp_path):
    of = job(*CASES[case], VOCABULARY, whitespace="compact")
    path = tmp_path / "grammar.safetensors"
    export("safetensors", of, path)
    index = json.loads(make("json", of).content)
    with safe_open(path, "numpy") as file:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no dict
        metadata = file.metadata()
    assert [arrays[name].dtype for name in ("indptr", "tokens", "targets", "accepting")] == [
        np.int64,
        np.int32,
        np.int32,
        np.uint8,
    ]
    assert metadata["start"] == ("" if index["start"] is None else str(index["start"]))
    assert json.loads(metadata["turnstile"])["source"] == of.compiled.source.text
    read = {
        str(state): dict(zip(map(str, arrays["tokens"][a:b].tolist()), arrays["targets"][a:b].tolist(), strict=True))
        for state, (a, b) in enumerate(zip(arrays["indptr"], arrays["indptr"][1:], strict=False))
    }
    assert read == index["transitions"]
    assert np.flatnonzero(arrays["accepting"]).tolist() == index["accepting"]


@pytest.mark.parametrize("name", ["safetensors", "bumblebee"])
def test_what_has_no_index_is_refused_with_the_reason(name):
    of = job(*CASES["nested"], VOCABULARY)
    assert shows(refusal(target(name), of), "export.refusal.fragment.rules_nest")
    with raises_key(
        NotExportableError,
        "export.writing.fragment.no_fit",
        reason=catalogue_text("export.refusal.fragment.rules_nest"),
    ):
        make(name, of)
    with raises_key(NotExportableError, "errors.vocabulary.no_named_token", name="<nothing>"):
        make(name, job("gbnf", "root ::= <nothing>", VOCABULARY))


@fuzz(150)
@given(RULES)
def test_any_regular_grammar_has_an_index_that_agrees(source):
    compiled = compiles_or_is_refused("gbnf", source, SMALL)
    if compiled is None or not compiled.is_regular:
        return
    of = ExportJob(compiled, VOCABULARY)
    try:
        document = json.loads(make("json", of).content)
        walk_tokens(of, index_recogniser(document, VOCABULARY), walks=4, steps=8)
    except LimitExceededError:
        assert compiled.options == SMALL


@pytest.mark.parametrize("case", ["regex", "regular rules", "whole tokens", "whole or spelled", "flat schema"])
@pytest.mark.parametrize("name", ["json", "safetensors", "bumblebee"])
def test_a_forecast_is_near_the_size_of_the_whole_file(name, case):
    forecasts = []
    of = replace(job(*CASES[case], VOCABULARY, whitespace="compact"), on_forecast=forecasts.append)
    made = make(name, of)
    assert [forecast.size for forecast in forecasts] == [pytest.approx(made.size, rel=0.1)]


def test_an_index_of_whole_tokens_knows_limits():
    of = job(*CASES["whole or spelled"], VOCABULARY)
    with raises_key(LimitExceededError, "errors.limit.configurations", limit=2) as caught:
        make("safetensors", limited(of, table_states=2))
    assert caught.value.name == "table_states"
    with raises_key(LimitExceededError, "errors.limit.index_transitions"):
        whole_token_index(of.compiled, VOCABULARY, 100, most_transitions=20, cancel=of.cancel)


@pytest.mark.parametrize("spelling", NumberSpelling)
@pytest.mark.parametrize("case", ["nested", "open schema", "recursive schema", "flat schema", "regex"])
def test_what_nests_is_refused_before_it_is_made(case, spelling):
    of = spelled(job(*CASES[case], VOCABULARY, whitespace="compact"), spelling)
    refusals = {fit.target.name: fit.refusal for fit in fits(of)}
    for name in ("safetensors", "bumblebee"):
        if case in ("flat schema", "regex"):
            assert refusals[name] == ""
            continue
        key = "rules_nest" if case == "nested" else "schema_nests"
        assert refusals[name] == catalogue_text(f"export.refusal.fragment.{key}")
        with raises_key(NotExportableError, "export.writing.fragment.no_fit"):
            make(name, of)
    assert refusals["json"] == ""  # it has the automata of the rules instead


def test_a_schema_that_no_rules_can_say_is_refused_with_its_place():
    of = job("json_schema", '{"type": "array", "items": {"type": "integer"}, "uniqueItems": true}', VOCABULARY)
    assert "uniqueItems" in refusal(target("safetensors"), of)
    with raises_code("export-not-context-free") as told:
        make("safetensors", of)
    assert of.compiled.source.excerpt(told.value.diagnostics[0].span)


def test_a_schema_whose_rules_are_too_many_is_refused_in_the_list():
    small = CompileOptions(limits=replace(LIMITS, instructions=20))
    of = ExportJob(compile_grammar("json_schema", FLAT, small), VOCABULARY)
    assert refusal(target("safetensors"), of) == catalogue_text("errors.limit.more", what="instructions", limit=20)


def test_safetensors_are_the_same_bytes_each_time():
    of = job(*CASES["flat schema"], VOCABULARY, whitespace="compact")
    made = make("safetensors", of).content
    assert all(make("safetensors", of).content == made for _ in range(20))
    length = int.from_bytes(made[:8], "little")
    assert length % 8 == 0
    assert list(json.loads(made[8 : 8 + length])["__metadata__"]) == ["format", "start", "turnstile", "version"]


@pytest.mark.parametrize("old", [b"accepting", b"fingerprint"])
def test_an_index_that_was_changed_is_found(old):
    of = job("regex", "[0-9]{2}", VOCABULARY)
    document = json.loads(make("json", of).content)
    if old == b"accepting":
        document["accepting"] = [1]
    else:
        document["vocabulary"]["fingerprint"] = "0"
    with pytest.raises(MismatchError):
        check("json", Artifact((("grammar.json", json.dumps(document).encode()),)), of)


def test_indices_out_of_bounds_are_found():
    of = job("regex", "[0-9]{2}", VOCABULARY)
    document = json.loads(make("json", of).content)
    document["transitions"]["0"]["49"] = MOST_STATES
    with raises_key(MismatchError, "errors.export.checks.other_index"):
        check("json", Artifact((("grammar.json", json.dumps(document).encode()),)), of)


# ---------------------------------------------------------------------- plain Python

RUN = """
import sys
sys.path[:] = [path for path in sys.path if "site-packages" not in path]
sys.path.insert(0, sys.argv[1])
for name in ("engine", "numpy", "torch"):
    try:
        __import__(name)
    except ImportError:
        continue
    raise SystemExit(name + " can be imported")
import turnstile_my_grammar as grammar
guide = grammar.load()
state = guide.start
for token_id in map(int, sys.argv[2:]):
    print(",".join(map(str, guide.allowed(state))))
    state = guide.advance(state, token_id)
print(state == grammar.ENDED, guide.about["notation"])
"""


@pytest.mark.parametrize("case", ["regex", "nested", "whole tokens", "open schema"])
def test_the_folder_runs_in_a_bare_python(case, tmp_path):
    of = ExportJob(job(*CASES[case], VOCABULARY).compiled, VOCABULARY, ExportOptions(name="My grammar!"))
    export("python", of, tmp_path / "out")
    ids = {"regex": b"12ab", "nested": b"((ab))", "whole tokens": b"a", "open schema": b'{"a":[]}'}[case]
    token_ids = [297] * (case == "whole tokens") + [*ids, 298]
    command = [sys.executable, "-I", "-S", "-c", RUN, str(tmp_path / "out"), *map(str, token_ids)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)

    matcher = Matcher(of.compiled, VOCABULARY)
    *masks, last = done.stdout.splitlines()
    for line, token_id in zip(masks, token_ids, strict=True):
        flags = np.unpackbits(matcher.bitmask().view(np.uint8), bitorder="little")
        assert line == ",".join(map(str, np.flatnonzero(flags).tolist()))
        assert matcher.accept(token_id)
    assert last == f"True {of.compiled.notation}"


def test_the_runtimes_import_nothing_of_the_engine():
    given = {*sys.stdlib_module_names, "torch", "transformers", "vllm"}
    for path, content in runtime_files((*GUIDE, *TRANSFORMERS, *VLLM)):
        for node in ast.walk(ast.parse(content, feature_version=(3, 10))):  # the oldest that a README names
            if isinstance(node, ast.Import):
                assert {one.name.partition(".")[0] for one in node.names} <= given, path
            elif isinstance(node, ast.ImportFrom) and not node.level:
                assert str(node.module).partition(".")[0] in given, path
    assert all(b"import torch" not in content for _, content in runtime_files(GUIDE))


def test_the_folder_is_checked_to_the_byte():
    of = job("gbnf", NESTED, VOCABULARY)
    made = make("python", of)
    files = tuple((name, text + b"\n" if name.endswith("trie.py") else text) for name, text in made.files)
    with raises_key(MismatchError, "errors.export.package.not_written"):
        check("python", Artifact(files), of)
    with raises_key(MismatchError, "errors.export.package.other_vocabulary"):
        check("python", made, ExportJob(of.compiled, Vocabulary([b"a", b"(", b")", b""], [3])))


def test_an_empty_grammar_is_refused():
    for name in ("python", "transformers", "vllm", "bumblebee"):
        assert shows(refusal(target(name), job(*CASES["nothing"], VOCABULARY)), "export.refusal.fragment.no_token")


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("My grammar!", "turnstile_my_grammar"),
        ("é", "turnstile_grammar"),
        ("turnstile_x", "turnstile_x"),
        ("2", "turnstile_2"),
    ],
)
def test_any_name_is_a_package(name, package):
    of = ExportJob(job("regex", "a", VOCABULARY).compiled, VOCABULARY, ExportOptions(name=name))
    assert f"{package}/grammar.json" in dict(make("python", of).files)
