"""`turnstile diagnose`."""

from __future__ import annotations

import io
import json

import pytest
from catalogue_texts import shows
from command_line import run
from random_model import RandomModel

import engine.models
from engine.diagnosis.intake import known_messages
from engine.peers import PEERS
from engine.peers.adapter import OWN, Peer
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary
from tests.engine.peers.peer_doubles import DoubleAdapter

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer", "maximum": 9}}, "required": ["a"]}


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    (tmp_path / "output.txt").write_text('{"a": 12}\n')
    return tmp_path


def diagnosed(capsys, *arguments):
    code = run("diagnose", *arguments)
    out, err = capsys.readouterr()
    return code, out, err


GRAMMAR = ("--notation", "json_schema", "--grammar-file", "schema.json")


def test_the_document_has_the_fields_of_the_manual(files, capsys):
    code, out, _ = diagnosed(capsys, *GRAMMAR, "--output", "output.txt", "--target", "vllm@0.33", "--json")
    found = json.loads(out)
    assert code == 1
    assert list(found) == [
        *("cause", "detail", "sentence", "fix", "evidence", "tool", "zone", "target", "places", "others"),
        *("legal_prefix", "remarks", "engines", "scores", "worst", "blanks", "keys", "lost_keys"),
    ]
    assert (found["cause"], found["detail"], found["target"]) == ("keyword-not-enforced", "range", "vllm@0.33")
    assert found["places"] == [{"pointer": "/properties/a/maximum"}, {"line": 1, "column": 7}]
    assert found["legal_prefix"] == {"bytes": 7, "tokens": None}


def test_the_text_begins_with_the_sentence(files, capsys):
    code, out, _ = diagnosed(capsys, *GRAMMAR, "--output", "output.txt")
    assert code == 1
    assert "`/properties/a/maximum`" in out.splitlines()[0]
    assert out.splitlines()[1] == "keyword-not-enforced: range"


@pytest.mark.parametrize(("output", "code"), [('{"a": 1}', 0), ('{"a": 1', 1), ('{"a": 10}', 1)])
def test_the_exit_code(files, capsys, output, code):
    (files / "output.txt").write_text(output)
    assert diagnosed(capsys, *GRAMMAR, "--output", "output.txt")[0] == code


def test_an_unknown_cause_has_its_own_exit_code(files, capsys):
    assert diagnosed(capsys, "--output", "output.txt")[0] == 4
    assert diagnosed(capsys, *GRAMMAR)[0] == 4


@pytest.mark.parametrize(
    "arguments",
    [(), ("--grammar-file", "schema.json"), ("--jsonl", "a", "--output", "b"), ("--output", "missing"), ("missing",)],
)
def test_misuse(files, capsys, arguments):
    assert diagnosed(capsys, *arguments)[0] == 2


def test_request_response_and_log_are_read(files, capsys):
    schema = {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}}
    (files / "request.json").write_text(json.dumps({"response_format": schema, "max_tokens": 3}))
    message = {"choices": [{"message": {"content": '{"a"'}, "finish_reason": "length"}]}
    (files / "response.json").write_text(json.dumps(message))
    arguments = ("--request", "request.json", "--response", "response.json", "--json")
    code, out, _ = diagnosed(capsys, *arguments)
    assert (code, json.loads(out)["cause"]) == (1, "cut-off")
    (files / "server.log").write_text("INFO ok\nFailed to advance FSM for request 1 for tokens 5.\n")
    code, out, _ = diagnosed(capsys, *arguments, "--log", "server.log")
    found = json.loads(out)
    assert (found["cause"], found["others"]) == ("speculative-rejection", [{"cause": "cut-off", "detail": ""}])


def test_the_grammar_begins_after_a_trigger(files, capsys):
    (files / "output.txt").write_text('so</think>\n\n{"a": 1}')
    assert diagnosed(capsys, *GRAMMAR, "--output", "output.txt", "--after", "</think>")[0] == 0
    code, out, _ = diagnosed(capsys, *GRAMMAR, "--output", "output.txt", "--after", "<never>", "--json")
    assert (code, json.loads(out)["cause"]) == (1, "trigger-never-came")


def test_a_zone_with_its_own_grammar(files, capsys):
    (files / "zones.json").write_text(json.dumps([{"after": "B:", "until": ";", "notation": "regex", "grammar": "b+"}]))
    (files / "output.txt").write_text('B:cc; A:{"a": 1}')
    options = ("--output", "output.txt", "--after", "A:", "--zones", "zones.json", "--json")
    code, out, _ = diagnosed(capsys, *GRAMMAR, *options)
    assert (code, json.loads(out)["zone"]) == (1, "B:")


def test_many_cases_make_one_table(files, capsys):
    records = [{"grammar": SCHEMA, "output": text} for text in ('{"a": 1}', '{"a": 10}', "Sure!", '{"a": 12}')]
    records.append({"notation": "regex", "grammar": "a+", "output": "aa", "finish": "length", "budget": 2})
    (files / "cases.jsonl").write_text("\n".join(json.dumps(one) for one in records))
    code, out, _ = diagnosed(capsys, "--jsonl", "cases.jsonl")
    head, *rows = [line.split() for line in out.splitlines()]
    assert code == 1
    assert head[:2] == [catalogue_text("cli.diagnose.table.name"), catalogue_text("cli.diagnose.table.cause")]
    assert [row[:2] for row in rows[:3]] == [["1", "complete"], ["2", "keyword-not-enforced"], ["3", "constraint-off"]]
    assert rows[4][:3] == ["5", "cut-off", "length"]
    assert rows[5:] == [
        [],
        ["keyword-not-enforced", "2"],
        ["complete", "1"],
        ["constraint-off", "1"],
        ["cut-off", "1"],
    ]
    assert diagnosed(capsys, "cases.jsonl") == (code, out, "")
    code, out, _ = diagnosed(capsys, "--jsonl", "cases.jsonl", "--json")
    found = json.loads(out)
    assert [one["cause"] for one in found["cases"]][:2] == ["complete", "keyword-not-enforced"]
    assert found["causes"][0] == {"cause": "keyword-not-enforced", "count": 2, "cases": ["2", "4"]}
    assert found["cases"][4]["finish"] == "length"


def test_a_folder_of_cases_makes_one_table(files, capsys):
    for name, output in (("one", '{"a": 1}'), ("two", "Sure!")):
        (files / "cases" / name).mkdir(parents=True)
        (files / "cases" / name / "schema.json").write_text(json.dumps(SCHEMA))
        (files / "cases" / name / "output.txt").write_text(output)
    code, out, _ = diagnosed(capsys, "cases")
    assert code == 1
    rows = [line.split()[:2] for line in out.splitlines()]
    assert rows[1:3] == [["one", "complete"], ["two", "constraint-off"]]


@pytest.mark.parametrize("line", ["[1]", "{", '{"notation": "none", "grammar": "a"}'])
def test_a_file_of_lines_that_are_no_case_is_misuse(files, capsys, line):
    (files / "cases.jsonl").write_text(line)
    code, _, err = diagnosed(capsys, "--jsonl", "cases.jsonl")
    assert code == 2
    assert "cases.jsonl:1" in err


def test_a_line_that_is_no_case_is_a_row(files, capsys):
    (files / "cases.jsonl").write_text('{"notation": "regex", "grammar": "1", "output": "1"}\n{"output"\n')
    code, out, _ = diagnosed(capsys, "cases.jsonl", "--json")
    found = json.loads(out)
    assert (code, found["cases"][0]["cause"]) == (4, "complete")
    assert (found["cases"][1]["cause"], found["cases"][1]["place"]) == (None, "cases.jsonl:2")


def test_the_lines_of_the_standard_input_are_cases(files, capsys, monkeypatch):
    given = json.dumps({"grammar": SCHEMA, "output": '{"a": 1}'}).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
    code, out, _ = diagnosed(capsys, "--jsonl", "-")
    assert code == 0
    assert out.splitlines()[1].split()[:2] == ["1", "complete"]


def test_two_files_of_a_batch_are_one_table(files, capsys):
    schema = {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}}
    body = {"response_format": schema, "messages": []}
    tokens = [{"token": '{"a": 1', "logprob": -0.5}, {"token": "}", "logprob": -1.5}]
    choice = {"message": {"content": '{"a": 1}'}, "finish_reason": "stop", "logprobs": {"content": tokens}}
    (files / "in.jsonl").write_text(json.dumps({"custom_id": "c", "url": "/v1/chat/completions", "body": body}))
    response = {"status_code": 200, "body": {"choices": [choice]}}
    (files / "out.jsonl").write_text(json.dumps({"custom_id": "c", "response": response, "error": None}))
    code, out, _ = diagnosed(capsys, "in.jsonl", "out.jsonl", "--json")
    (row,) = json.loads(out)["cases"]
    assert (code, row["name"], row["place"], row["worst"]["token"]) == (0, "c", "out.jsonl:1", "}")
    assert row["z"] == {"index": 1, "least": pytest.approx(0.223, abs=0.001), "most": 1.0}


def test_an_empty_folder_is_misuse(files, capsys):
    (files / "empty").mkdir()
    assert diagnosed(capsys, "empty")[0] == 2


PYDANTIC = "from pydantic import BaseModel\nclass Answer(BaseModel):\n    name: str\n"


@pytest.mark.parametrize("option", [(), ("--request",)])
def test_a_program_is_named_with_the_command_that_prints_its_schema(files, capsys, option):
    (files / "answer.py").write_text(PYDANTIC)
    code, out, _ = diagnosed(capsys, *option, "answer.py", "--json")
    (remark,) = json.loads(out)["remarks"]
    assert code == 4
    assert remark["command"] == "print(json.dumps(Answer.model_json_schema()))"
    assert remark["command"] in remark["title"]
    code, out, _ = diagnosed(capsys, *option, "answer.py")
    assert remark["command"] in [line.strip() for line in out.splitlines()]


def test_the_parts_of_a_file_are_recognised(files, capsys):
    body = {"model": "m", "guided_json": SCHEMA}
    answer = {"choices": [{"message": {"content": '{"a": 1'}, "finish_reason": "length"}]}
    (files / "copied.txt").write_text(f"{json.dumps(body)}\n{json.dumps(answer)}\n")
    code, out, _ = diagnosed(capsys, "copied.txt", "--json")
    assert (code, json.loads(out)["cause"]) == (1, "cut-off")


def test_a_message_of_a_log_says_what_to_paste_next(files, capsys):
    (files / "server.log").write_text("parse: error parsing grammar: unknown escape at \\d\n")
    code, out, _ = diagnosed(capsys, "server.log", "--json")
    (remark,) = json.loads(out)["remarks"]
    known = known_messages()["llama-unknown-escape"]
    assert (code, remark["title"]) == (1, known.sentence)
    assert known.setting in remark["detail"]
    assert known.next in remark["detail"]


def test_an_unclear_file_is_a_question(files, capsys):
    (files / "value.json").write_text('{"foo": 1}')
    code, _, err = diagnosed(capsys, "value.json")
    assert code == 2
    assert "json_schema" in err


@pytest.fixture
def model(monkeypatch):
    """A small model that can write every text."""
    source = RandomModel(Vocabulary([*(bytes((byte,)) for byte in range(256)), None], [256], {256: "<end>"}))
    monkeypatch.setattr(engine.models, "load_model", lambda spec, *, cancel=None: source)
    return source


def test_a_model_scores_the_output(files, capsys, model):
    arguments = (*GRAMMAR, "--output", "output.txt", "--model", "m", "--prompt", "hi")
    code, out, _ = diagnosed(capsys, *arguments, "--json")
    found = json.loads(out)
    assert code == 1
    assert "".join(one["token"] for one in found["scores"]) == '{"a": 12}\n'
    by_p = sorted(found["scores"], key=lambda one: one["p"])
    assert found["worst"] == [one["index"] for one in by_p[:5]]
    assert model.asked[0] == tuple(model.encode("hi"))
    code, out, _ = diagnosed(capsys, *arguments)
    rows = out.splitlines()
    head = [catalogue_text(f"cli.diagnose.column.{name}") for name in ("place", "token", "p", "z", "rank", "wanted")]
    at = next(number for number, row in enumerate(rows) if row.split() == " ".join(head).split())
    assert rows[at + 1].startswith(f"1:{by_p[0]['start'] + 1} ")


def test_log_probabilities_of_the_response_are_scores(files, capsys):
    content = [{"token": "{", "logprob": -0.1}, {"token": "}", "logprob": -2.0}]
    choice = {"message": {"content": "{}"}, "finish_reason": "stop", "logprobs": {"content": content}}
    (files / "response.json").write_text(json.dumps({"choices": [choice]}))
    _, out, _ = diagnosed(capsys, *GRAMMAR, "--response", "response.json", "--json")
    found = json.loads(out)
    assert ([one["logprob"] for one in found["scores"]], found["worst"]) == ([-0.1, -2.0], [1, 0])


def test_an_output_that_cannot_be_scored_is_a_note(files, capsys, monkeypatch):
    monkeypatch.setattr(engine.models, "load_model", lambda spec, *, cancel=None: RandomModel())
    (files / "output.txt").write_bytes(b"\xff")
    code, _, err = diagnosed(capsys, "--output", "output.txt", "--model", "m")
    assert code == 4
    reason = catalogue_text("errors.diagnosis.not_encodable", model="random")
    assert shows(err, "cli.diagnose.message.no_scores", reason=reason)


def test_installed_engines_that_part_are_named(files, capsys, monkeypatch):
    double = Peer("double", "pytest", DoubleAdapter)
    monkeypatch.setattr("engine.cli.diagnose.installed_peers", lambda notation: (PEERS[OWN], double))
    (files / "pattern.txt").write_text("rejects")
    (files / "output.txt").write_text("rejects")
    arguments = ("--notation", "regex", "--grammar-file", "pattern.txt", "--output", "output.txt")
    assert diagnosed(capsys, *arguments)[0] == 0
    code, out, _ = diagnosed(capsys, *arguments, "--engines", "--json")
    found = json.loads(out)
    assert (code, found["cause"]) == (1, "engine-difference")
    answers = [(one["engine"], one["accepted"], one["is_complete"]) for one in found["engines"]]
    assert answers == [(OWN, 7, True), ("double", 0, False)]
    code, out, _ = diagnosed(capsys, *arguments, "--engines")
    assert shows(out, "diagnosis.engines.fragment.complete", count=7)


def test_an_engine_that_dies_is_named_and_changes_no_cause(files, capsys, monkeypatch):
    double = Peer("double", "pytest", DoubleAdapter)
    monkeypatch.setattr("engine.cli.diagnose.installed_peers", lambda notation: (PEERS[OWN], double))
    (files / "pattern.txt").write_text("dies")
    (files / "output.txt").write_text("dies")
    arguments = ("--notation", "regex", "--grammar-file", "pattern.txt", "--output", "output.txt", "--engines")
    code, out, _ = diagnosed(capsys, *arguments, "--json")
    found = json.loads(out)
    assert (code, found["cause"], found["engines"][1]["outcome"]) == (0, "complete", "died")
    assert "double" in diagnosed(capsys, *arguments)[1]


def test_without_an_output_or_another_engine_a_note_says_so(files, capsys, monkeypatch):
    monkeypatch.setattr("engine.cli.diagnose.installed_peers", lambda notation: (PEERS[OWN],))
    _, _, err = diagnosed(capsys, *GRAMMAR, "--engines")
    assert shows(err, "cli.diagnose.message.no_output")
    _, _, err = diagnosed(capsys, *GRAMMAR, "--output", "output.txt", "--engines")
    assert shows(err, "cli.diagnose.message.no_engines")
