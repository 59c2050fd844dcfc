"""Requests of every server, in every form in which they are pasted."""

from __future__ import annotations

import json

import pytest

from engine.compile import compile_grammar
from engine.diagnosis.case import FailureCase, Message
from engine.diagnosis.intake import PastedText, TextKind, ignored_places, read_failure, read_intake
from engine.diagnosis.intake.languages import is_lark, xgrammar_constructs

SCHEMA = {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "integer"}}, "required": ["b"]}
OTHER = {"type": "object", "properties": {"city": {"const": "Bern"}}, "required": ["city"]}
CHAT = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
GBNF = 'root ::= "a" | "b"\n'
FORMAT = {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": SCHEMA}}


def tool(name: str, schema: object) -> dict[str, object]:
    return {"type": "function", "function": {"name": name, "description": "d", "parameters": schema}}


def read(value: object, *others: object) -> FailureCase:
    return read_failure([one if isinstance(one, str) else json.dumps(one) for one in (value, *others)])


def found(case: FailureCase) -> list[tuple[str, str, str]]:
    return [(one.notation, one.way, one.pointer) for one in case.constraints]


SCHEMA_PLACES = [
    ({**CHAT, "response_format": FORMAT}, "response_format", "/response_format/json_schema/schema", "", "chat"),
    (
        {**CHAT, "response_format": {"type": "json_object", "schema": SCHEMA}},
        "response_format",
        "/response_format/schema",
        "",
        "chat",
    ),
    (
        {"model": "m", "input": "Hi", "text": {"format": {"type": "json_schema", "name": "n", "schema": SCHEMA}}},
        "text.format",
        "/text/format/schema",
        "",
        "responses",
    ),
    ({"prompt": "p", "guided_json": SCHEMA}, "guided_json", "/guided_json", "vllm", "completions"),
    (
        {**CHAT, "structured_outputs": {"json": SCHEMA}},
        "structured_outputs",
        "/structured_outputs/json",
        "vllm",
        "chat",
    ),
    (
        {**CHAT, "extra_body": {"structured_outputs": {"json": SCHEMA}}},
        "structured_outputs",
        "/extra_body/structured_outputs/json",
        "vllm",
        "chat",
    ),
    (
        {"text": "p", "sampling_params": {"json_schema": json.dumps(SCHEMA)}},
        "sampling_params",
        "/sampling_params/json_schema",
        "sglang",
        "generate",
    ),
    ({"prompt": "p", "n_predict": 5, "json_schema": SCHEMA}, "json_schema", "/json_schema", "llama.cpp", "completion"),
    ({"model": "m", "prompt": "p", "format": SCHEMA, "stream": False}, "format", "/format", "ollama", "generate"),
    ({**CHAT, "format": SCHEMA}, "format", "/format", "ollama", "chat"),
    ({**CHAT, "tools": [tool("f", SCHEMA)]}, "tools", "/tools/0/function/parameters", "", "chat"),
    (
        {"input": "Hi", "model": "m", "tools": [{"type": "function", "name": "f", "parameters": SCHEMA}]},
        "tools",
        "/tools/0/parameters",
        "",
        "responses",
    ),
    ({**CHAT, "functions": [{"name": "f", "parameters": SCHEMA}]}, "tools", "/functions/0/parameters", "", "chat"),
    (
        {
            **CHAT,
            "response_format": {"type": "structural_tag", "format": {"type": "json_schema", "json_schema": SCHEMA}},
        },
        "response_format",
        "/response_format/format/json_schema",
        "",
        "chat",
    ),
    (FORMAT, "response_format", "/json_schema/schema", "", ""),
    ({"name": "n", "schema": SCHEMA}, "response_format", "/schema", "", ""),
    (tool("f", SCHEMA), "tools", "/function/parameters", "", ""),
    ([{"name": "f", "input_schema": SCHEMA}], "tools", "/0/input_schema", "", ""),
    ({"name": "f", "inputSchema": SCHEMA}, "tools", "/inputSchema", "", ""),
]


@pytest.mark.parametrize(("body", "way", "pointer", "server", "interface"), SCHEMA_PLACES)
@pytest.mark.parametrize("indent", [None, 2])
def test_a_schema_is_found_in_each_field(body, way, pointer, server, interface, indent):
    case = read_failure([json.dumps(body, indent=indent)])
    assert found(case) == [("json_schema", way, pointer)]
    assert json.loads(case.constraints[0].text) == SCHEMA
    assert list(json.loads(case.constraints[0].text)["properties"]) == ["b", "a"]
    assert (case.server, case.interface) == (server, interface)


@pytest.mark.parametrize(
    ("body", "notation", "text", "way", "pointer"),
    [
        ({**CHAT, "guided_regex": "a+"}, "regex", "a+", "guided_regex", "/guided_regex"),
        (
            {**CHAT, "structured_outputs": {"regex": "a+"}},
            "regex",
            "a+",
            "structured_outputs",
            "/structured_outputs/regex",
        ),
        ({**CHAT, "guided_grammar": GBNF}, "gbnf", GBNF, "guided_grammar", "/guided_grammar"),
        ({**CHAT, "regex": "a+"}, "regex", "a+", "regex", "/regex"),
        ({**CHAT, "ebnf": GBNF}, "gbnf", GBNF, "ebnf", "/ebnf"),
        ({"text": "p", "sampling_params": {"ebnf": GBNF}}, "gbnf", GBNF, "sampling_params", "/sampling_params/ebnf"),
        ({"prompt": "p", "grammar": GBNF}, "gbnf", GBNF, "grammar", "/grammar"),
        (
            {**CHAT, "response_format": {"type": "grammar", "grammar": GBNF}},
            "gbnf",
            GBNF,
            "response_format",
            "/response_format/grammar",
        ),
        (
            {
                **CHAT,
                "tools": [
                    {
                        "type": "custom",
                        "name": "t",
                        "format": {"type": "grammar", "syntax": "regex", "definition": "a+"},
                    }
                ],
            },
            "regex",
            "a+",
            "tools",
            "/tools/0/format/definition",
        ),
    ],
)
def test_a_grammar_is_found_in_each_field(body, notation, text, way, pointer):
    (constraint,) = read(body).constraints
    assert (constraint.notation, constraint.text, constraint.way, constraint.pointer) == (notation, text, way, pointer)


@pytest.mark.parametrize("place", ["guided_choice", "choice", "structured_outputs"])
def test_a_choice_allows_each_of_its_texts_and_no_other(place):
    choices = ["Positive", 'say "no"', "a\\b\n", "é"]
    body = {**CHAT, place: {"choice": choices} if place == "structured_outputs" else choices}
    (constraint,) = read(body, {"guided_decoding_backend": "x"} if place == "choice" else {}).constraints or ()
    grammar = compile_grammar(constraint.notation, constraint.text)
    assert all(grammar.fullmatch(one) for one in choices)
    assert not grammar.fullmatch("Negative")


@pytest.mark.parametrize("body", [{**CHAT, "response_format": {"type": "json_object"}}, {**CHAT, "format": "json"}])
def test_an_object_without_a_schema_may_have_any_members(body):
    (constraint,) = read(body).constraints
    grammar = compile_grammar(constraint.notation, constraint.text)
    assert grammar.fullmatch('{"x":[1]}')
    assert not grammar.fullmatch("[1]")


def test_a_text_format_is_no_constraint():
    assert read({**CHAT, "response_format": {"type": "text"}}).constraints == ()


def test_several_tools_are_several_grammars_with_their_names():
    body = {**CHAT, "tools": [tool("f", SCHEMA), tool("g", OTHER), {"type": "function", "function": {"name": "h"}}]}
    case = read({**body, "tool_choice": {"type": "function", "function": {"name": "g"}}})
    assert [(one.tool, one.pointer) for one in case.constraints] == [
        ("f", "/tools/0/function/parameters"),
        ("g", "/tools/1/function/parameters"),
        ("h", "/tools/2/function"),
    ]
    assert case.tool_choice == "g"
    assert read({**body, "tool_choice": "required"}).tool_choice == "required"
    assert read({**body, "tool_choice": {"type": "auto"}}).tool_choice == "auto"


def test_a_schema_that_is_pasted_beside_its_request_is_one_grammar():
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    body = {"model": "m", "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}}
    pasted = [json.dumps(body), json.dumps(schema, indent=3)]
    assert [one.way for one in read_failure(pasted).constraints] == ["response_format"]
    other = json.dumps({"type": "array"})
    assert [one.way for one in read_failure([*pasted, other]).constraints] == ["response_format", ""]


def test_structural_tags_are_read_in_both_forms():
    old = {
        "type": "structural_tag",
        "structures": [{"begin": "<function=f>", "schema": SCHEMA, "end": "</function>"}],
        "triggers": ["<function="],
    }
    new = {
        "type": "structural_tag",
        "format": {
            "type": "triggered_tags",
            "triggers": ["<function="],
            "tags": [
                {
                    "type": "tag",
                    "begin": "<function=f>",
                    "end": "</function>",
                    "content": {"type": "json_schema", "json_schema": SCHEMA},
                },
            ],
        },
    }
    for tag in (old, new):
        for body in (
            {**CHAT, "response_format": tag},
            {**CHAT, "structured_outputs": {"structural_tag": json.dumps(tag)}},
        ):
            case = read(body)
            (constraint,) = case.constraints
            assert json.loads(constraint.text) == SCHEMA
            assert (constraint.tool, case.is_lazy, case.triggers) == ("f", True, ("<function=",))


def test_settings_messages_and_triggers_are_carried_over():
    case = read(
        {
            "messages": [
                {"role": "system", "content": "Be short."},
                {"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "image_url", "image_url": {}}]},
                {"role": "assistant", "content": "{"},
            ],
            "max_tokens": 20,
            "min_tokens": 3,
            "temperature": 0,
            "top_k": 4,
            "seed": 5,
            "stop": "\n",
            "stop_token_ids": [7],
            "grammar": GBNF,
            "grammar_lazy": True,
            "grammar_triggers": [{"type": 1, "value": "<a>"}, {"word": "<b>", "at_start": False}],
            "chat_template_kwargs": {"enable_thinking": False},
        }
    )
    assert case.messages == (Message("system", "Be short."), Message("user", "Hi"))
    assert case.prefill == "{"
    assert (case.max_tokens, case.min_tokens, case.temperature, case.top_k, case.seed) == (20, 3, 0.0, 4, 5)
    assert (case.stop, case.stop_ids, case.is_lazy, case.triggers) == (("\n",), (7,), True, ("<a>", "<b>"))
    assert case.thinking is False


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({**CHAT, "max_completion_tokens": 9}, (9, None, ())),
        ({"input": "p", "model": "m", "max_output_tokens": 9}, (9, None, ())),
        ({"prompt": "p", "n_predict": 9, "stop": ["a", "b"]}, (9, None, ("a", "b"))),
        ({"prompt": "p", "n_predict": -1}, (None, None, ())),
        ({"text": "p", "sampling_params": {"max_new_tokens": 9, "temperature": 0.5, "stop": ["a"]}}, (9, 0.5, ("a",))),
        ({"model": "m", "prompt": "p", "options": {"num_predict": 9, "temperature": 1}}, (9, 1.0, ())),
        ({**CHAT, "max_tokens": "many", "temperature": None, "seed": True}, (None, None, ())),
    ],
)
def test_settings_are_found_under_the_names_of_each_server(body, expected):
    case = read(body)
    assert (case.max_tokens, case.temperature, case.stop) == expected
    assert case.seed is None


# --- forms of pasting


CURLS = [
    "curl http://localhost:8000/v1/chat/completions -H 'Content-Type: application/json' -d '{}'",
    "curl -X POST http://h:8000/v1/chat/completions \\\n  -H \"Content-Type: application/json\" \\\n  --data-raw '{}'",
    "$ curl --json '{}' http://localhost:8000/v1/chat/completions | jq .",
    "curl.exe -s http://localhost:8000/v1/chat/completions -d'{}'",
    "curl --url=http://localhost:8000/v1/chat/completions --data='{}'",
    "curl http://localhost:8000/v1/chat/completions -d @- <<'EOF'\n{}\nEOF\n",
]


@pytest.mark.parametrize("command", CURLS)
def test_a_curl_command_is_read_with_its_address(command):
    body = {**CHAT, "messages": [{"role": "user", "content": 'Say "it" (a; b | c)'}], "response_format": FORMAT}
    case = read_failure([command.replace("{}", json.dumps(body, indent=1))])
    assert found(case) == [("json_schema", "response_format", "/response_format/json_schema/schema")]
    assert json.loads(case.constraints[0].text) == SCHEMA
    assert (case.server, case.interface, case.messages[0].content) == ("vllm", "chat", 'Say "it" (a; b | c)')


def test_the_quotes_of_other_shells_are_read():
    body = json.dumps({**CHAT, "response_format": FORMAT})
    double = body.replace("\\", "\\\\").replace('"', '\\"')
    ansi = body.replace("\\", "\\\\").replace("m", "\\x6d").replace("'", "\\'")
    apostrophe = json.dumps({**CHAT, "guided_regex": "it's"}).replace("'", "'\\''")
    for command in (f'curl http://h:8000/v1/chat/completions ^\r\n -d "{double}"', f"curl http://h -d $'{ansi}'"):
        assert json.loads(read_failure([command]).constraints[0].text) == SCHEMA
    assert read_failure([f"curl http://h -d '{apostrophe}'"]).constraints[0].text == "it's"


def test_a_response_after_a_command_belongs_to_it():
    answer = {"choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}]}
    case = read_failure([f"$ curl http://h/v1/chat/completions -d '{json.dumps(CHAT)}'\n{json.dumps(answer)}\n"])
    assert (case.output, case.finish, case.messages[0].content) == (b"{}", "stop", "Hi")


def test_a_file_of_a_command_is_named_and_not_read(tmp_path):
    path = tmp_path / "body.json"
    path.write_text(json.dumps({**CHAT, "guided_json": SCHEMA}))
    intake = read_intake([f"curl http://h:8000/v1/chat/completions -d @{path}"])
    assert intake.sources == (str(path),)
    assert [(one.id, one.values["name"]) for one in intake.case.findings] == [("file", str(path))]
    assert intake.case.constraints == ()


def test_a_python_literal_is_read_and_never_evaluated():
    body = {**CHAT, "stream": False, "seed": None, "response_format": FORMAT}
    case = read_failure([repr(body) + "\n"])
    assert json.loads(case.constraints[0].text) == SCHEMA
    trailing = '{"prompt": "p", "guided_regex": "a" "+",}'
    assert read_failure([trailing]).constraints[0].text == "a+"


def test_the_arguments_of_a_call_in_a_program_are_read():
    program = f"""
from openai import OpenAI
client = OpenAI(base_url="http://localhost:8000/v1", api_key="x")
schema = {SCHEMA!r}
open("/nonexistent/file").read()
answer = client.chat.completions.create(
    model="m",
    messages=[{{"role": "user", "content": prompt}}],
    extra_body={{"structured_outputs": {{"json": schema}}}},
    max_tokens=5,
)
print(answer)
"""
    case = read_failure([program])
    assert found(case) == [("json_schema", "structured_outputs", "/extra_body/structured_outputs/json")]
    assert json.loads(case.constraints[0].text) == SCHEMA
    assert (case.max_tokens, case.ignored, case.messages[0].content) == (5, (), "prompt")


def test_a_schema_that_a_program_computes_is_reported():
    call = "client.chat.completions.create(messages=[], extra_body={'guided_json': Answer.model_json_schema()})"
    case = read_failure([call])
    assert [(one.id, one.pointer) for one in case.findings] == [("computed-schema", "/extra_body/guided_json")]
    assert "Answer.model_json_schema()" in case.findings[0].message


def test_vllms_own_classes_are_read():
    text = "SamplingParams(max_tokens=7, structured_outputs=StructuredOutputsParams(regex='a+'))"
    case = read_failure([text])
    assert (case.constraints[0].text, case.max_tokens, case.ignored) == ("a+", 7, ())


@pytest.mark.parametrize("fence", ["```json\n{}\n```", "Look:\n\n```\n{}\n```\nand more", "~~~~\n{}\n~~~~", "```\n{}"])
def test_code_blocks_are_taken_off(fence):
    case = read_intake([fence.replace("{}", json.dumps({**CHAT, "response_format": FORMAT}))]).case
    assert found(case) == [("json_schema", "response_format", "/response_format/json_schema/schema")]


def test_a_thread_with_a_request_a_response_and_a_log_is_one_failure():
    thread = f"""
### Request
```bash
curl http://localhost:8080/v1/chat/completions -d '{json.dumps({**CHAT, "response_format": FORMAT})}'
```
### Answer
```json
{{"choices": [{{"message": {{"content": "no"}}, "finish_reason": "length"}}]}}
```
```
llama_grammar_init_impl: failed to parse grammar
```
"""
    intake = read_intake([thread])
    case = intake.case
    assert (len(case.constraints), case.output, case.finish, case.server) == (1, b"no", "length", "llama.cpp")
    assert [one.message for one in case.log] == ["llama-parse-failed"]


def test_the_source_of_a_schema_keeps_its_layout():
    text = '{ "a\\"}": [1, {"b": 2}], "guided_json" : 0, "prompt": "p", "guided_json": {"const":  1,\n  "x": 1.5e1 } }'
    assert read_failure([text]).constraints[0].text == '{"const":  1,\n"x": 1.5e1 }\n'


# --- servers


@pytest.mark.parametrize(
    ("body", "url", "server", "ignored"),
    [
        ({**CHAT, "format": SCHEMA}, "http://h:8000/v1/chat/completions", "vllm", ["/format"]),
        (
            {**CHAT, "response_format": FORMAT},
            "http://h:11434/api/chat",
            "ollama",
            ["/response_format/json_schema/schema"],
        ),
        ({**CHAT, "response_format": FORMAT}, "http://h:11434/v1/chat/completions", "ollama", []),
        ({**CHAT, "format": SCHEMA}, "http://h:11434/v1/chat/completions", "ollama", ["/format"]),
        (
            {**CHAT, "structured_outputs": {"json": SCHEMA}},
            "https://api.openai.com/v1/chat/completions",
            "openai",
            ["/structured_outputs/json"],
        ),
        ({**CHAT, "guided_json": SCHEMA}, "", "vllm", ["/guided_json"]),
        ({**CHAT, "structured_outputs": {"json": SCHEMA}}, "", "vllm", []),
        (
            {**CHAT, "extra_body": {"structured_outputs": {"json": SCHEMA}}},
            "",
            "vllm",
            ["/extra_body/structured_outputs/json"],
        ),
        ({"text": "p", "json_schema": json.dumps(SCHEMA), "sampling_params": {}}, "", "sglang", ["/json_schema"]),
        (
            {"prompt": "p", "response_format": FORMAT},
            "http://h:8080/completion",
            "llama.cpp",
            ["/response_format/json_schema/schema"],
        ),
        ({"prompt": "p", "grammar": GBNF, "json_schema": SCHEMA}, "", "llama.cpp", ["/json_schema"]),
        ({"model": "gpt-4o", "messages": [], "response_format": FORMAT}, "", "openai", []),
        ({"model": "openai/gpt-oss-20b", "messages": [], "response_format": FORMAT}, "", "", []),
    ],
)
def test_a_constraint_that_the_server_does_not_read_is_ignored(body, url, server, ignored):
    text = json.dumps(body)
    case = read_failure([f"curl {url} -d '{text}'" if url else text])
    assert (case.server, list(case.ignored)) == (server, ignored)


def test_format_is_ignored_where_a_log_says_that_the_server_is_vllm():
    log = "INFO 11-02 [api_server.py:12] vLLM API server version 0.33.0"
    case = read({**CHAT, "format": SCHEMA}, log)
    assert (case.server, case.version, case.ignored) == ("vllm", "0.33.0", ("/format",))
    older = read({**CHAT, "guided_json": SCHEMA}, "vLLM API server version 0.11.2")
    assert (older.version, older.ignored) == ("0.11.2", ())
    assert ignored_places(older) == ()


def test_white_space_is_that_of_the_server():
    assert read({"prompt": "p", "n_predict": 1, "json_schema": SCHEMA}).constraints[0].options.whitespace == "flexible"
    assert read({**CHAT, "structured_outputs": {"json": SCHEMA}}).constraints[0].options.whitespace == "any"
    strict = {**CHAT, "structured_outputs": {"json": SCHEMA, "disable_any_whitespace": True}}
    assert read(strict).constraints[0].options.whitespace == "one-space"


# --- unclear and strange inputs


def test_an_object_without_a_keyword_is_never_taken_for_a_schema_silently():
    case = read(
        {**CHAT, "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"foo": 1}}}}
    )
    assert [(one.id, one.pointer) for one in case.findings] == [("no-keyword", "/response_format/json_schema/schema")]
    assert "allows any value" in case.findings[0].message
    missing = read({**CHAT, "response_format": {"type": "json_schema", "schema": None}})
    assert [one.id for one in missing.findings] == ["no-schema"]


def test_a_request_of_a_known_kind_is_read_whatever_it_has():
    case = read_failure([PastedText('{"foo": 1}', TextKind.REQUEST)])
    assert case == FailureCase()


@pytest.mark.parametrize(
    ("grammar", "constructs"),
    [
        ('root ::= TagDispatch(("<f>", a))\na ::= "x"', ["TagDispatch"]),
        ('root ::= Repeat\n("c", 1, 2) (= "b")', ["(=", "Repeat"]),
        ("root ::= ExcludeToken(1) | Token(2)", ["Token"]),
        ('root ::= "Token(" [(="] # Repeat(', []),
        ('root ::= Token ("a")\nToken ::= "b"', []),
        ("Token(1)", []),
    ],
)
def test_constructs_of_xgrammar_are_found_among_the_tokens_of_rules(grammar, constructs):
    assert xgrammar_constructs(grammar) == constructs
    assert not is_lark(grammar)


@pytest.mark.parametrize(
    ("body", "sampling", "unread"),
    [
        (
            {**CHAT, "guided_json": SCHEMA, "frequency_penalty": 0.5, "presence_penalty": 0.2, "min_p": 0.1},
            {"frequency_penalty": 0.5, "presence_penalty": 0.2, "min_p": 0.1},
            "",
        ),
        (
            {"prompt": "a", "grammar": GBNF, "n_predict": 5, "repeat_penalty": 1.2, "presence_penalty": 1},
            {"repetition_penalty": 1.2, "repetition_window": 64, "presence_penalty": 1.0, "penalty_window": 64},
            "",
        ),
        (
            {"prompt": "a", "grammar": GBNF, "n_predict": 5, "repeat_penalty": 1.2, "repeat_last_n": 0},
            {},
            "",
        ),
        (
            {"model": "m", "prompt": "a", "format": SCHEMA, "options": {"repeat_penalty": 1.2, "repeat_last_n": -1}},
            {"repetition_penalty": 1.2},
            "",
        ),
        (
            {
                "prompt": "a",
                "n_predict": 5,
                "typical_p": 0.9,
                "xtc_probability": 0.5,
                "xtc_threshold": 0.2,
                "dry_multiplier": 0.8,
                "dry_base": 2,
                "dry_allowed_length": 3,
                "dry_penalty_last_n": 100,
                "dry_sequence_breakers": ["\n"],
                "top_n_sigma": 2,
                "samplers": ["dry"],
            },
            {
                "typical_p": 0.9,
                "xtc_probability": 0.5,
                "xtc_threshold": 0.2,
                "dry_multiplier": 0.8,
                "dry_base": 2.0,
                "dry_allowed_length": 3,
                "dry_window": 100,
                "dry_breakers": '["\\n"]',
            },
            "top_n_sigma, samplers",
        ),
        (
            {"prompt": "a", "n_predict": 5, "mirostat": 2, "mirostat_tau": 3, "top_p": 0.5},
            {"mirostat": 2, "mirostat_tau": 3.0},
            "top_p",
        ),
        ({**CHAT, "guided_json": SCHEMA, "min_p": 2, "top_p": "x"}, {}, "top_p, min_p"),
    ],
)
def test_settings_of_samplers_are_read_or_named(body, sampling, unread):
    case = read(body)
    assert dict(case.sampling) == sampling
    names = [one.values["names"] for one in case.findings if one.id == "sampling"]
    assert names == [unread] * bool(unread)
