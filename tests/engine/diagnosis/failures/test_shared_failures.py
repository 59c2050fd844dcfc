"""The failures that were rebuilt from public threads, read from the folder beside the checkout; and random texts."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest
from corpora import SHARED
from hypothesis import given
from hypothesis import strategies as st

from engine.cli.diagnose import as_data
from engine.diagnosis.batch.sources import batch_entries
from engine.diagnosis.case import FailureCase, FinishReason, RequestConstraint
from engine.diagnosis.failures.diagnose import diagnose
from engine.diagnosis.failures.tolerant_json import read_output

PERSON = json.dumps(
    {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 8},
            "age": {"type": "integer", "minimum": 0, "maximum": 120},
            "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 3},
        },
        "required": ["name", "age"],
        "additionalProperties": False,
    }
)
FAILURES = SHARED / "failures"
FOLDERS = [
    ("01-whitespace", "", "whitespace-loop", "white space"),
    ("02-max-tokens", "", "cut-off", "description"),
    ("03-empty-stack", "llama.cpp", "constraint-off", "<unused32>"),
    ("04-sampler-order", "", "sampler-conflict", "top_k"),
    ("05-dropped-keywords", "vllm", "keyword-not-enforced", "/properties/tags/uniqueItems"),
    ("06-constraint-off", "llama.cpp", "constraint-off", "No grammar was in force"),
    ("07-failed-to-parse", "llama.cpp", "grammar-error", "of the tool"),
    ("08-backends-differ", "", "whitespace-loop", "white space"),
    ("09-regex-gaps", "ollama", "unsupported-construct", "/properties/text/pattern"),
    ("11-eos", "", "eos-refused", "The"),
    ("12-unicode", "", "encoding", "U+00FF"),
    ("14-slow-compile", "", "slow-compile", "maxLength"),
    ("15-stack-explosion", "", "state-explosion", "parses"),
    ("17-think", "", "trigger-never-came", "</think>"),
    ("19-speculative", "", "speculative-rejection", "refused"),
    ("20-server-crash", "", "grammar-error", "never closed"),
]
FILES = [
    ("13-key-order/schema.json", "13-key-order/model_wanted.txt", "key-order"),
    ("13-key-order/schema.json", "13-key-order/engine_wrote.txt", "complete"),
    ("16-left-recursion/expr.gbnf", None, "left-recursion"),
    ("17-think/schema.json", "17-think/think_then_json.txt", "wrong-zone"),
    ("17-think/schema.json", "17-think/json_in_thought.txt", "wrong-zone"),
    ("17-think/schema.json", "17-think/never_ends.txt", "trigger-never-came"),
    ("18-special-token/text.gbnf", None, "special-token-text"),
]


def skip_without(path):
    if not path.exists():
        pytest.skip(f"{path} is missing: put the folder of failures beside the checkout")


@pytest.mark.parametrize(("name", "target", "cause", "said"), FOLDERS)
def test_a_rebuilt_failure_has_its_cause(name, target, cause, said):
    skip_without(FAILURES / name)
    (entry,) = batch_entries([FAILURES / name])
    case = entry.case()
    start = time.process_time()
    found = diagnose(case, target=target)
    assert time.process_time() - start < 2
    assert found.cause == cause
    assert said in found.sentence + found.fix
    assert found.fix


@pytest.mark.parametrize(("grammar", "output", "cause"), FILES)
def test_files_of_a_rebuilt_failure_have_their_cause(grammar, output, cause):
    skip_without(FAILURES / grammar)
    notation = "json_schema" if grammar.endswith(".json") else "gbnf"
    data = None if output is None else (FAILURES / output).read_bytes()
    constraints = (RequestConstraint(notation, (FAILURES / grammar).read_text()),)
    assert diagnose(FailureCase(constraints=constraints, output=data)).cause == cause


@given(st.text(max_size=60) | st.sampled_from(['{"name": "Ada", "age": 36}', "```json\n{}", "<think>", '{"a":[{']))
def test_any_output_has_a_diagnosis(text):
    data = text.encode("utf-8", "surrogatepass")
    for notation, grammar in (
        ("json_schema", PERSON),
        ("regex", "[a-z]+( [a-z]+)*"),
        ("gbnf", 'root ::= "a" b\nb ::= [0-9]+'),
    ):
        for finish in (FinishReason.UNKNOWN, FinishReason.LENGTH):
            case = FailureCase(constraints=(RequestConstraint(notation, grammar),), output=data, finish=finish)
            found = diagnose(case)
            assert found.sentence
            json.dumps(as_data(found))


@given(st.binary(max_size=40))
def test_any_bytes_have_a_diagnosis(data):
    case = FailureCase(constraints=(RequestConstraint("json_schema", PERSON),), output=b'{"name": "' + data)
    assert diagnose(case).sentence
    assert diagnose(replace(case, prefill="{", triggers=("=",))).sentence


@given(st.data())
def test_a_changed_output_has_a_diagnosis(data):
    text = '{"name": "Ada", "age": 36, "tags": ["a", "b"]}'
    at = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(at, len(text)))
    new = data.draw(st.text(alphabet="{}[]\":,\\ \n'a1-.eE/*`tTnN", max_size=6))
    changed = text[:at] + new + text[end:]
    case = FailureCase(constraints=(RequestConstraint("json_schema", PERSON),), output=changed.encode())
    found = diagnose(case)
    assert found.sentence
    for violation in found.violations:
        assert 0 <= violation.start <= violation.end <= len(changed)
        assert violation.sentence


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_json_is_read_without_defects(value):
    read = read_output(json.dumps(value))
    assert (read.defects, read.broken_at) == ((), None)
