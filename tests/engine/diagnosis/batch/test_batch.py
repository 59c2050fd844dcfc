"""Batches: which requests and responses belong together, and what their rows say."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from engine.diagnosis.batch.judging import judge_entry
from engine.diagnosis.batch.sources import BatchError, batch_entries, is_batch
from engine.diagnosis.case import FinishReason, RequestConstraint
from engine.diagnosis.failures.diagnose import diagnose
from engine.diagnosis.failures.diagnosis import Cause
from engine.diagnosis.intake import TextKind
from engine.source import CancelledError, CancelToken

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}
REQUEST = {
    "model": "m",
    "messages": [{"role": "user", "content": "hi"}],
    "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}},
}


def answer(text, finish="stop", tokens=()):
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": finish}
    if tokens:
        choice["logprobs"] = {"content": tokens}
    return {"object": "chat.completion", "choices": [choice]}


def token(text, logprob, *others):
    listed = [{"token": other, "bytes": list(other.encode()), "logprob": value} for other, value in others]
    return {"token": text, "bytes": list(text.encode()), "logprob": logprob, "top_logprobs": listed}


def rows_of(*paths, **options):
    constraint = options.pop("constraint", None)
    return [judge_entry(entry, diagnose, constraint)[0] for entry in batch_entries(paths, **options)]


def causes_of(*paths, **options):
    return [(row.name, row.cause) for row in rows_of(*paths, **options)]


def lines(path, *records):
    path.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in records))
    return path


def write(folder, **files):
    folder.mkdir(exist_ok=True)
    for name, value in files.items():
        stem, _, role = name.rpartition("_")
        path = folder / (f"{stem}.{role}.json" if stem else f"{role}.json")
        path.write_text(json.dumps(value))
    return folder


# --- folders


def test_a_request_and_its_response_have_one_name(tmp_path):
    folder = write(
        tmp_path / "calls",
        r2_request=REQUEST,
        r2_response=answer('{"a": 1}'),
        r10_request=REQUEST,
        r10_response=answer("Sure!"),
        late_request=REQUEST,
        lost_response=answer("{}"),
    )
    assert causes_of(folder) == [
        ("late", Cause.UNKNOWN),
        ("lost", Cause.UNKNOWN),
        ("r2", Cause.COMPLETE),
        ("r10", Cause.CONSTRAINT_OFF),
    ]


@pytest.mark.parametrize("names", [("request_7.json", "response_7.json"), ("a-req.txt", "a-resp.sse")])
def test_the_words_of_a_name_say_what_a_file_is(tmp_path, names):
    (tmp_path / names[0]).write_text(json.dumps(REQUEST))
    event = {"choices": [{"index": 0, "delta": {"content": '{"a": 1}'}, "finish_reason": "stop"}]}
    (tmp_path / names[1]).write_text(f"data: {json.dumps(event)}\n\ndata: [DONE]\n\n")
    assert [cause for _, cause in causes_of(tmp_path)] == [Cause.COMPLETE]


def test_folders_of_requests_and_of_responses_belong_together(tmp_path):
    for name, value in (("requests", REQUEST), ("responses", answer('{"a": 1}'))):
        (tmp_path / name).mkdir()
        for number in (1, 2):
            (tmp_path / name / f"{number}.json").write_text(json.dumps(value))
    assert causes_of(tmp_path) == [("1", Cause.COMPLETE), ("2", Cause.COMPLETE)]


def test_a_grammar_without_a_request_judges_all_of_its_folder(tmp_path):
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    for name, text in (("a", '{"a": 1}'), ("b", "no")):
        (tmp_path / f"{name}.output.txt").write_text(text)
    assert causes_of(tmp_path) == [("a", Cause.COMPLETE), ("b", Cause.CONSTRAINT_OFF)]


def test_the_own_grammar_of_an_output_counts_more(tmp_path):
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    (tmp_path / "a.output.txt").write_text("ab")
    (tmp_path / "a.pattern.txt").write_text("a+b\n")
    assert causes_of(tmp_path) == [("a", Cause.COMPLETE)]


def test_a_file_with_both_is_one_case(tmp_path):
    (tmp_path / "7.json").write_text(json.dumps({"request": REQUEST, "response": answer('{"a": 1')}))
    for name in ("notes.md", "notes.txt", "tokenizer.json"):
        (tmp_path / name).write_text('{"version": "1.0"}')
    (tmp_path / ".hidden.json").write_text("{")
    assert causes_of(tmp_path) == [("7", Cause.STOP_TOKEN)]


def test_a_folder_without_requests_has_no_rows(tmp_path):
    assert rows_of(tmp_path) == []
    with pytest.raises(BatchError):
        rows_of(tmp_path / "missing")


# --- lines


def test_the_fields_of_a_line_have_the_usual_names(tmp_path):
    stream = f"data: {json.dumps({'choices': [{'delta': {'content': 'no'}, 'finish_reason': 'stop'}]})}\n\n"
    path = lines(
        tmp_path / "calls.jsonl",
        {"request": REQUEST, "response": answer('{"a": 1}')},
        {"name": "whole", **REQUEST, "response": answer("{}")},
        {"body": REQUEST, "result": json.dumps(answer('{"a": 1}'))},
        {"req": REQUEST, "response": '{"a": 1}'},
        {"request": json.dumps(REQUEST), "completion": stream},
        {"notation": "regex", "grammar": "a+", "output": "aa", "finish": "length", "budget": 2},
        answer("x"),
        {"model": "m", "response": "x", "done": True, "done_reason": "stop"},
        REQUEST,
    )
    found = rows_of(path)
    assert [row.name for row in found] == ["1", "whole", "3", "4", "5", "6", "7", "8", "9"]
    assert [row.cause for row in found] == [
        Cause.COMPLETE,
        Cause.SCHEMA_VIOLATION,
        Cause.COMPLETE,
        Cause.COMPLETE,
        Cause.CONSTRAINT_OFF,
        Cause.CUT_OFF,
        Cause.UNKNOWN,
        Cause.UNKNOWN,
        Cause.UNKNOWN,
    ]
    assert [row.finish for row in found[5:8]] == [FinishReason.LENGTH, FinishReason.STOP, FinishReason.STOP]


def batch_answer(name, body, status=200):
    return {"id": "b", "custom_id": name, "response": {"status_code": status, "body": body}, "error": None}


def test_the_files_of_a_batch_belong_together_by_their_ids(tmp_path):
    asked = [{"custom_id": f"c{n}", "method": "POST", "url": "/v1/chat/completions", "body": REQUEST} for n in range(4)]
    requests = lines(tmp_path / "input.jsonl", *asked)
    refused = {"error": {"message": "bad schema", "code": "x"}}
    responses = lines(
        tmp_path / "output.jsonl",
        batch_answer("c2", answer('{"a": 1}')),
        batch_answer("c0", refused, 400),
        {"id": "b", "custom_id": "c3", "response": None, "error": {"code": "batch_expired", "message": "late"}},
    )
    expected = [("c2", Cause.COMPLETE), ("c0", Cause.UNKNOWN), ("c3", Cause.UNKNOWN), ("c1", Cause.UNKNOWN)]
    assert causes_of(requests, responses) == expected
    assert causes_of(tmp_path) == expected
    backwards = rows_of(responses, requests)
    assert [row.name for row in backwards] == ["c0", "c2", "c3", "c1"]
    assert "bad␣schema" in next(row.sentence for row in backwards if row.name == "c0")


def test_a_line_with_a_name_of_a_batch_may_have_the_response_itself(tmp_path):
    record = {"custom_id": "c", "request": REQUEST, "response": answer('{"a": 1}')}
    assert causes_of(lines(tmp_path / "calls.jsonl", record)) == [("c", Cause.COMPLETE)]


def test_equal_ids_are_paired_in_their_order_and_named_apart(tmp_path):
    path = lines(
        tmp_path / "calls.jsonl",
        *({"id": "x", "request": REQUEST} for _ in range(3)),
        *({"id": "x", "response": answer(text)} for text in ('{"a": 1}', "no")),
    )
    assert causes_of(path) == [("x", Cause.COMPLETE), ("x #2", Cause.CONSTRAINT_OFF), ("x #3", Cause.UNKNOWN)]


def test_a_line_that_cannot_be_read_says_why_and_stops_no_other(tmp_path):
    whole = json.dumps({"request": REQUEST, "response": answer('{"a": 1}')}).encode()
    path = tmp_path / "calls.jsonl"
    parts = [whole, b"", b"[1]", whole[:70], b'{"a": "caf\xe9"}', b"\x01\x02", b"[" * 100_000, b'"x"', whole]
    path.write_bytes(b"\r\n".join(parts))
    found = rows_of(path)
    assert [(row.place, row.cause) for row in found] == [
        ("calls.jsonl:1", Cause.COMPLETE),
        *((f"calls.jsonl:{number}", None) for number in range(3, 9)),
        ("calls.jsonl:9", Cause.COMPLETE),
    ]
    keys = [entry.error.key for entry in batch_entries([path]) if entry.error is not None]
    assert keys == [
        "errors.diagnosis.batch.record",
        "errors.diagnosis.batch.no_json",
        "errors.diagnosis.batch.encoding",
        "errors.diagnosis.batch.no_json",
        "errors.diagnosis.too_deep",
        "errors.diagnosis.batch.record",
    ]


def test_a_line_beyond_the_limit_is_skipped(tmp_path):
    record = {"request": REQUEST, "response": answer('{"a": 1}')}
    path = lines(tmp_path / "calls.jsonl", record, {"x": "y" * 9_000_000}, record)
    entries = list(batch_entries([path]))
    assert [entry.place for entry in entries] == [f"calls.jsonl:{number}" for number in (1, 2, 3)]
    assert entries[1].error.key == "errors.diagnosis.batch.long_line"
    assert entries[2].error is None


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_the_byte_order_mark_says_how_a_file_is_encoded(tmp_path, encoding):
    path = tmp_path / "calls.jsonl"
    text = [{"id": "ਊ", "request": REQUEST}, {"id": "ਊ", "response": answer('{"a": 1}')}]  # U+0A0A: two line ends
    path.write_bytes("\n".join(json.dumps(one, ensure_ascii=False) for one in text).encode(encoding))
    assert causes_of(path) == [("ਊ", Cause.COMPLETE)]


def test_a_binary_file_is_one_row(tmp_path):
    path = tmp_path / "calls.jsonl"
    path.write_bytes(bytes(range(256)) * 100)
    assert [(row.name, row.cause) for row in rows_of(path)] == [("calls.jsonl", None)]


def test_a_grammar_can_replace_those_of_the_requests(tmp_path):
    path = lines(tmp_path / "calls.jsonl", {"request": REQUEST, "response": answer("aa")})
    assert causes_of(path, constraint=RequestConstraint("regex", "a+")) == [("1", Cause.COMPLETE)]


def test_files_of_any_name_can_have_lines(tmp_path):
    path = lines(tmp_path / "calls", {"request": REQUEST, "response": answer('{"a": 1}')})
    assert not is_batch(path)
    assert causes_of(path, as_lines=True) == [("1", Cause.COMPLETE)]


def test_reading_can_be_cancelled_and_reports_bytes(tmp_path):
    path = lines(tmp_path / "calls.jsonl", *({"request": REQUEST} for _ in range(3)))
    seen = []
    cancel = CancelToken(lambda _what, done, total: seen.append((done, total)))
    entries = batch_entries([path], cancel=cancel)
    next(entries)
    cancel.cancel()
    with pytest.raises(CancelledError):
        next(entries)
    assert seen[0] == (0, path.stat().st_size)


# --- the log of a server

VLLM_LOG = (Path(__file__).parents[3] / "data" / "responses" / "vllm-requests.log").read_text()


def test_the_requests_of_a_log_are_found_by_their_names(tmp_path):
    path = tmp_path / "server.log"
    path.write_text(VLLM_LOG)
    assert is_batch(path)
    first, second = batch_entries([path])
    case = first.case()
    assert (first.name, second.name) == ("chatcmpl-aa", "chatcmpl-bb")
    assert (case.prompt, case.prompt_ids, case.output, case.ids) == ('It\'s: output: "x"', (1, 2), b"[1", (5, 6))
    assert (case.server, case.max_tokens, case.temperature, case.stop) == ("vllm", 9, 0.5, (")",))
    assert [one.notation for one in case.constraints] == ["json_schema"]
    assert causes_of(path) == [("chatcmpl-aa", Cause.CUT_OFF), ("chatcmpl-bb", Cause.UNKNOWN)]


def test_the_messages_of_a_log_belong_to_the_request_that_they_name(tmp_path):
    path = tmp_path / "server.log"
    message = "ERROR 11-01 12:00:01 Failed to advance FSM for request chatcmpl-aa for tokens 5.\n"
    path.write_text(VLLM_LOG.replace("INFO 11-01 12:00:02", message + "INFO 11-01 12:00:02", 1))
    assert [row.cause for row in rows_of(path)] == [Cause.SPECULATIVE_REJECTION, Cause.UNKNOWN]
    assert [one.kind for one in next(batch_entries([path])).texts].count(TextKind.LOG) == 1


def test_a_log_without_answers_is_no_batch(tmp_path):
    path = tmp_path / "server.log"
    path.write_text("".join(line for line in VLLM_LOG.splitlines(keepends=True) if "Generated" not in line))
    assert not is_batch(path)


# --- numbers


def test_a_row_has_the_least_probable_token_and_the_smallest_allowed_mass(tmp_path):
    tokens = [
        token("{", -0.1, ("{", -0.1), ("Sure", math.log(0.05))),
        token('"a', math.log(0.2), ('"a', math.log(0.2)), ('"b', math.log(0.7))),
        token('": ', -9999.0),
        token("1}", math.log(0.1)),
    ]
    path = lines(tmp_path / "calls.jsonl", {"request": REQUEST, "response": answer('{"a": 1}', tokens=tokens)})
    (row,) = rows_of(path)
    assert (row.worst.index, row.worst.p) == (3, pytest.approx(0.1))
    assert (row.mass.index, row.mass.least, row.mass.most) == (1, pytest.approx(0.2), pytest.approx(0.3))
    assert row.has_tokens


def test_a_row_without_log_probabilities_has_no_numbers(tmp_path):
    (row,) = rows_of(lines(tmp_path / "calls.jsonl", {"request": REQUEST, "response": answer('{"a": 1}')}))
    assert (row.worst, row.mass, row.has_tokens) == (None, None, False)
