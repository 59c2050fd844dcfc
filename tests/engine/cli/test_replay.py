"""`turnstile replay`."""

from __future__ import annotations

import json

import pytest
from catalogue_texts import shows

import engine.models
from engine.cli.main import main
from engine.decoding.values import Step, StepOrigin, Trace, TraceNode
from engine.document.codec import encode
from engine.document.content import DocumentFile
from engine.models.uniform import UniformSource
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary

DATE = "[0-9]{4}-[0-9]{2}"
LETTERS = [bytes((code,)) for code in b"0123456789-x"]


@pytest.fixture(autouse=True)
def model(monkeypatch):
    source = UniformSource("digits", Vocabulary([*LETTERS, b"20", None], [13], {13: "<end>"}))
    monkeypatch.setattr(engine.models, "load_model", lambda spec, *, cancel=None: source)


def run(capsys, *arguments, grammar=DATE):
    code = main(["replay", "--notation", "regex", "--grammar", grammar, *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_complete_output_is_worth_a_zero(capsys):
    code, out, _ = run(capsys, "--text", "2024-01")
    assert (code, out) == (0, catalogue_text("verdicts.complete.text", size="7 bytes") + "\n")


def test_the_sentence_of_the_budget(capsys):
    code, out, _ = run(capsys, "--text", "2024-", "--model", "digits", "--budget", "4")
    assert code == 1
    assert out.splitlines()[0] == catalogue_text("verdicts.cut_off.budget", where="token 4", needed=1, left=0)


def test_ids(capsys):
    code, out, _ = run(capsys, "--ids", "[12, 2, 4, 10, 0, 11]", "--model", "digits", "--json")
    found = json.loads(out)
    assert code == 1
    assert found["outcome"] == "illegal"
    assert (found["failure"]["byte"], found["failure"]["token"], found["legal"]) == (6, 5, 6)
    assert [token["state"] for token in found["tokens"]] == ["legal"] * 5 + ["illegal"]
    assert found["failure"]["spans"][0] == {"text": "[0-9]", "line": 1, "column": 10}


def test_a_file_ends_with_a_line_end_that_nobody_generated(capsys, tmp_path):
    file = tmp_path / "output.txt"
    file.write_bytes(b"2024-01\n")
    assert run(capsys, "--text-file", str(file))[0] == 0
    file.write_bytes(b"2024-01\n\n")
    assert run(capsys, "--text-file", str(file))[0] == 1
    assert run(capsys, "--text-file", str(file), grammar=DATE + "\\n\\n")[0] == 0


def test_saved_traces(capsys, tmp_path):
    generated = tmp_path / "generated.json"
    steps = [{"id": 12, "token": "20"}, {"id": 2, "token": "2"}, {"id": 13, "token": "<end>"}]
    generated.write_text(json.dumps({"text": "202", "finish": "stop", "steps": steps}))
    code, out, _ = run(capsys, "--trace", str(generated), "--json")
    assert (code, json.loads(out)["bytes"], len(json.loads(out)["tokens"])) == (1, 3, 2)
    # Where they are tokens of the vocabulary that is asked for, the end is told of in its tokens.
    own = json.loads(run(capsys, "--trace", str(generated), "--model", "digits", "--budget", "3", "--json")[1])
    assert (own["ending"]["tokens"], own["tokens"][-1]["state"]) == ({"at_least": 3, "at_most": 3}, "illegal")
    document = tmp_path / "a.turnstile"
    first, second = (
        Step(token_id, token, "", 0.5, 0.5, 0.5, 2, False, token_id, StepOrigin.USER, 0)
        for token_id, token in ((12, b"20"), (99, b"2x"))
    )
    document.write_bytes(
        encode(DocumentFile(trace=Trace((TraceNode(4, None, first), TraceNode(7, 4, second)), (4, 7))))
    )
    found = json.loads(run(capsys, "--trace", str(document), "--json")[1])
    assert (found["outcome"], found["failure"]["token"]) == ("illegal", 1)


def test_misuse(capsys, tmp_path):
    with pytest.raises(SystemExit) as caught:
        run(capsys, "--ids", "1 2")
    assert caught.value.code == 2
    with pytest.raises(SystemExit) as caught:
        run(capsys, "--text", "2024", "--budget", "3")
    assert caught.value.code == 2
    with pytest.raises(SystemExit) as caught:
        run(capsys, "--ids", "1, two", "--model", "digits")
    assert caught.value.code == 2
    assert run(capsys, "--text-file", str(tmp_path / "missing"))[0] == 2
    for damaged in ("[]", "[" * 100_000, '{"steps": [{"id": 1e999, "token": "a"}]}', '{"trace": {"path": [1]}}'):
        (tmp_path / "other.json").write_text(damaged)
        code, _, err = run(capsys, "--trace", str(tmp_path / "other.json"))
        assert code == 1
        assert shows(err, "errors.document.no_trace")


def test_a_grammar_that_does_not_compile(capsys):
    code, _, err = run(capsys, "--text", "x", grammar="(a|b")
    assert code == 1
    assert "<grammar>:1:1: error" in err


def test_the_grammar_begins_after_a_trigger_and_blanks(capsys):
    output = "so it is</think>\n\n2024-01"
    assert run(capsys, "--text", output)[0] == 1
    assert run(capsys, "--text", output, "--after", "</think>")[0] == 0
    assert run(capsys, "--text", output, "--after", "</think>", "--blanks", "forbid")[0] == 1
    code, out, _ = run(capsys, "--text", "so it is</think>\n\n2024-1", "--after", "</think>", "--json")
    found = json.loads(out)
    assert (code, found["outcome"], found["legal"]) == (1, "cut off", 24)
    code, out, _ = run(capsys, "--text", "so it is</think>\n\n2024x", "--after", "</think>", "--json")
    assert json.loads(out)["failure"]["byte"] == 22
    assert run(capsys, "--text", "so it is", "--after", "</think>")[0] == 1


def test_zones_with_their_own_grammars(capsys, tmp_path):
    zones = tmp_path / "zones.json"
    zones.write_text(json.dumps([{"after": "B:", "until": ";", "notation": "regex", "grammar": "b+"}]))
    assert run(capsys, "--text", "x B:bb; A: 2024-01", "--after", "A:", "--zones", str(zones))[0] == 0
    assert run(capsys, "--text", "x B:cc; A: 2024-01", "--after", "A:", "--zones", str(zones))[0] == 1
    assert run(capsys, "--text", "2024-01", "--zones", str(zones))[0] == 2


def test_the_finish_reason_of_the_server_outweighs_the_count_of_tokens(capsys):
    arguments = ("--text", "2024-", "--model", "digits", "--budget", "9")
    assert shows(run(capsys, *arguments)[1], "verdicts.cut_off.early")
    assert shows(run(capsys, *arguments, "--finish", "length")[1], "verdicts.cut_off.by_budget")


def response(text, tokens, **more):
    content = [{"token": piece, "bytes": list(piece.encode()), "logprob": -1.0} for piece in tokens]
    choice = {"message": {"content": text}, "logprobs": {"content": content}, "finish_reason": "stop", **more}
    return json.dumps({"object": "chat.completion", "choices": [choice]})


@pytest.mark.parametrize("model_options", [(), ("--model", "digits")])
def test_the_tokens_of_a_response_are_a_trace(capsys, tmp_path, model_options):
    file = tmp_path / "response.json"
    file.write_text(response("2024-01", ["20", "2", "4", "-", "0", "1", "<end>"]))
    code, out, _ = run(capsys, "--trace", str(file), *model_options, "--json")
    found = json.loads(out)
    assert (code, found["outcome"]) == (0, "complete")
    assert [one["token"] for one in found["tokens"]][:6] == ["20", "2", "4", "-", "0", "1"]
    assert [one["id"] for one in found["tokens"]][:2] == ([12, 2] if model_options else [None, None])
    file.write_text(response("2024-x1", ["20", "2", "4", "-", "x", "1"]))
    code, out, _ = run(capsys, "--trace", str(file), *model_options, "--json")
    assert (code, json.loads(out)["failure"]["token"]) == (1, 4)


def test_a_response_of_ids_alone_needs_their_vocabulary(capsys, tmp_path):
    file = tmp_path / "response.json"
    file.write_text(json.dumps({"choices": [{"text": "20", "token_ids": [12], "finish_reason": "length"}]}))
    code, _, err = run(capsys, "--trace", str(file))
    assert code == 1
    assert shows(err, "errors.diagnosis.no_texts")
    code, out, _ = run(capsys, "--trace", str(file), "--model", "digits", "--json")
    assert (code, json.loads(out)["tokens"][0]["id"]) == (1, 12)


def test_a_response_of_another_model_is_refused(capsys, tmp_path):
    file = tmp_path / "response.json"
    file.write_text(response("20", ["20"], token_ids=[3]))
    code, _, err = run(capsys, "--trace", str(file), "--model", "digits")
    assert code == 1
    assert "#3" in err
