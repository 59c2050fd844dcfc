"""Request bodies: what each carries, what the README tells of it, and that a changed one is found."""

from __future__ import annotations

import ast
import json
import re

import pytest
from error_keys import raises_key
from exports import GRAMMARS, job_of

from engine.export.target import Artifact, MismatchError, NotExportableError, ReportedKeyword, ServerReport
from engine.export.targets import target
from engine.export.targets.requests import schema_notes
from engine.export.writing import make
from engine.source.catalogue import catalogue_text

REFUSED = {"hidden left recursion", "left by another way"}
BODIES = ["llama-server.json", "vllm.json", "sglang.json", "openai.json"]
SCHEMAS = [name.replace(".json", ".schema.json") for name in BODIES]


@pytest.mark.parametrize("case", GRAMMARS)
def test_every_body_carries_the_grammar(case):
    job = job_of(case, name="thing", model="some/model")
    artifact = make("requests", job)
    is_schema = job.compiled.notation == "json_schema"
    expected = BODIES[-1:] if case in REFUSED else BODIES
    assert [name for name, _ in artifact.files if name.endswith(".json")] == expected + (SCHEMAS if is_schema else [])
    checked = target("requests").check(artifact, job)
    assert checked.walks == 20 * len([name for name, _ in artifact.files if name.endswith(".json")])
    assert catalogue_text("export.scope.requests") in checked.sentence
    for name, content in artifact.files:
        if name.endswith(".json"):
            body = json.loads(content)
            assert body["model"] == "some/model"
            assert body.get("input", body.get("messages", [{}])[0] if "messages" in body else None)


def test_the_files_beside_them_are_whole():
    files = dict(make("requests", job_of("person", name="person")).files)
    ast.parse(files["client.py"])
    readme = files["README.md"].decode()
    assert "| vLLM 0.12 and later | `vllm.json` | `vllm.schema.json` |" in readme
    assert "fullName" in readme
    assert "vllm serve MODEL" in files["serve.sh"].decode()
    assert all(line.startswith("#") or not line for line in files["serve.sh"].decode().splitlines())


def test_a_schema_is_sent_as_it_was_written():
    source = ' {\n  "type": "object",\n  "properties": {"a": {"enum": [12345678901234567890.5, 1.50, "\\u00e9"]}}\n}\n'
    job = job_of(("json_schema", source))
    files = dict(make("requests", job).files)
    schemas = [content.decode() for name, content in files.items() if name.endswith(".schema.json")]
    assert len(schemas) == 4
    for text in schemas:
        assert '"enum": [12345678901234567890.5, 1.50, "\\u00e9"]' in text
        assert re.search(r'\n( +)"(?:json|schema)": \{\n\1  "type": "object",\n', text)
        json.loads(text)
    assert target("requests").check(make("requests", job), job).walks > 100


def test_a_models_name_stays_in_its_comment():
    files = dict(make("requests", job_of("person", model="m\nrm -rf x\r\x1b")).files)
    for name in ("serve.sh", "client.py"):
        lines = files[name].decode().partition("import json")[0].splitlines()
        assert not [line for line in lines if line.startswith("rm")]
    assert "--model-path m\\nrm -rf x\\r\\x1b" in files["serve.sh"].decode()
    assert json.loads(files["vllm.json"])["model"] == "m\nrm -rf x\r\x1b"


def test_what_a_server_cannot_take_is_said_and_left_out():
    artifact = make("requests", job_of("left by another way"))
    ebnf = catalogue_text("export.refusal.fragment.ebnf_left_recursion", rule="root")
    gbnf = catalogue_text("export.refusal.fragment.gbnf_left_recursion", rule="root")
    assert artifact.notes == (
        catalogue_text("export.note.fragment.no_llama_server", reason=gbnf),
        catalogue_text("export.note.fragment.no_ebnf", reason=ebnf),
    )
    assert "| llama.cpp's llama-server | none |" in artifact.file("README.md").decode()


@pytest.fixture(scope="module")
def of_a_person():
    """A job, and what became of it."""
    job = job_of("person")
    return job, make("requests", job)


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("vllm.json", "fullName", "fulName"),
        ("openai.json", "fullName", "fulName"),
        ("sglang.schema.json", '"fullName"', '"fulName"'),
        ("llama-server.json", '"grammar"', '"gramar"'),
        ("vllm.schema.json", "{", "["),
    ],
)
def test_a_changed_body_is_found(of_a_person, name, before, after):
    job, artifact = of_a_person
    assert before.encode() in artifact.file(name)
    files = tuple(
        (path, content.replace(before.encode(), after.encode(), 1) if path == name else content)
        for path, content in artifact.files
    )
    with pytest.raises(MismatchError):
        target("requests").check(Artifact(files), job)


def test_notes_are_about_keywords_that_are_used():
    schema = {
        "type": "object",
        "properties": {"not": {"type": "integer"}},
        "required": ["not"],
        "additionalProperties": False,
    }
    for server in ("llama-server", "vllm", "sglang", "openai"):
        assert schema_notes(server, schema) == ()
    assert schema_notes("llama-server", {"not": {"const": {"uniqueItems": 1}}}) == (
        "It does not enforce `not`, and does not say so.",
    )
    assert schema_notes("openai", {"type": "array", "uniqueItems": True, "allOf": [{}]}) == (
        "It refuses `allOf` and `uniqueItems` with `strict`.",
        "It takes only an object at the root.",
    )
    assert any("closed" in note for note in schema_notes("llama-server", {"properties": {"a": {}}}))


CLOSED = {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False}
DRAFT_4 = {**CLOSED, "dependencies": {"a": ["b"]}, "allOf": [{"required": ["a"], **CLOSED}, CLOSED]}


@pytest.mark.parametrize(
    ("schema", "notes"),
    [
        (
            {**CLOSED, "dependencies": {"a": ["b"]}, "not": {"required": ["c"], **CLOSED}},
            ("It does not enforce `not` and `dependencies`, and does not say so.",),
        ),
        (
            DRAFT_4,
            (
                "With xgrammar alone it refuses `allOf`.",
                "Its automatic backend then uses llguidance, which refuses `dependencies`: so does the server.",
            ),
        ),
        (
            {"type": "integer", "multipleOf": 3},
            ("With xgrammar alone it refuses `multipleOf`.", "Its automatic backend then uses llguidance."),
        ),
        (
            {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
            (
                "With xgrammar alone it refuses `uniqueItems`.",
                "Its automatic backend then uses llguidance, which refuses `uniqueItems`: so does the server.",
            ),
        ),
        (
            {**CLOSED, "patternProperties": {"^x": {"type": "integer"}}},
            (
                "With xgrammar alone it refuses `patternProperties`.",
                "Its automatic backend then uses outlines, because of `patternProperties`.",
            ),
        ),
        (
            {"type": "string", "pattern": "a", "maxLength": 3},
            ("With xgrammar alone it refuses `pattern`.", "Its automatic backend then uses llguidance."),
        ),
        ({"maximum": 3}, ("xgrammar does not enforce `maximum` where `type` is absent.",)),
    ],
)
def test_what_vllm_makes_of_a_schema(schema, notes):
    assert schema_notes("vllm", schema) == notes


@pytest.mark.parametrize(
    ("schema", "notes"),
    [
        (
            {"type": "array", "items": {"type": "integer", "multipleOf": 2}, "uniqueItems": True},
            ("It refuses `uniqueItems` and `multipleOf` with status 400.",),
        ),
        ({"type": "string", "format": "iri"}, ("It refuses `format` with status 400.",)),
        (
            {"type": "string", "format": "date", "maxLength": 10},
            ("It refuses a string with two of `pattern`, `format` and a length, with status 400.",),
        ),
        (
            DRAFT_4,
            (
                "It does not enforce `dependencies`, and does not say so.",
                "xgrammar does not enforce an `allOf` of two or more schemas.",
            ),
        ),
        (
            {"$ref": "#/$defs/a", "required": ["b"], "$defs": {"a": CLOSED}},
            ("xgrammar does not enforce the keywords beside a `$ref`.",),
        ),
    ],
)
def test_what_sglang_makes_of_a_schema(schema, notes):
    assert schema_notes("sglang", schema) == notes


def reported(*keywords):
    return ServerReport("llama-server", "b11549", "The check said this.", keywords)


def test_the_readme_tells_what_a_server_was_seen_to_do():
    found = (
        ReportedKeyword("/properties/a/maxItems", "maxItems", 'Not so: {"a": [1, 1]}'),
        ReportedKeyword("/properties/a/default", "default", "So"),
        ReportedKeyword("", "", "Unknown"),
    )
    job = job_of(
        ("json_schema", '{"properties": {"a": {"maxItems": 1, "default": null}}}'), server_report=reported(*found)
    )
    readme = dict(make("requests", job).files)["README.md"].decode()
    section = readme.partition("## What llama-server b11549 does")[2].partition("##")[0]
    assert "The check said this." in section
    assert '- /properties/a/maxItems: Not so: {"a": [1, 1]}.' in section
    assert "- /properties/a/default: So." in section
    assert "- The regex: Unknown." in section


def test_the_report_of_another_schema_is_refused():
    job = job_of("person", server_report=reported(ReportedKeyword("/properties/no~1one", "type", "So")))
    with raises_key(NotExportableError, "errors.export.requests.other_report", pointer="/properties/no~1one"):
        make("requests", job)
