"""Pastes as users write them: what they say between the parts is no output, and programs end where Python ends."""

from __future__ import annotations

import json

import pytest

from engine.diagnosis.intake import PastedText, TextKind, read_failure, read_intake

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
REQUEST = {
    "model": "m",
    "messages": [],
    "max_tokens": 9,
    "response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA}},
}
ANSWER = {"choices": [{"message": {"role": "assistant", "content": '{"a": 1'}, "finish_reason": "length"}]}
CURL = f"curl http://localhost:8000/v1/chat/completions -d '{json.dumps(REQUEST)}'"
CODE = f"from openai import OpenAI\nclient = OpenAI()\nr = client.chat.completions.create(**{REQUEST!r})\n".replace(
    "**" + repr(REQUEST), ", ".join(f"{name}={value!r}" for name, value in REQUEST.items())
)
REPRESENTATION = (
    "ChatCompletion(id='c', choices=[Choice(finish_reason='length', index=0, "
    "message=ChatCompletionMessage(content='{\"a\": 1', role='assistant'))], object='chat.completion')"
)
THREADS = [
    "Hello, this is what I send:\n```json\n{request}\n```\nand I get this, why?\n```json\n{answer}\n```\nThanks!\n",
    "Request:\n{request}\n\nI get:\n{answer}\n",
    "**Request:**\n\n{request}\n\n**Response:**\n\n{answer}\n\nWhat is wrong?\n",
    "My command:\n```bash\n{curl}\n```\nIt prints\n```\n{answer}\n```\n",
    "{curl}\n\nResult:\n{answer}\n",
    "The code:\n\n{code}\nprints:\n{answer}\n",
    "Request:\n{request}\nIt prints:\n{representation}\nin Python.\n",
]


@pytest.mark.parametrize("thread", THREADS)
def test_what_a_user_says_between_the_parts_is_no_output(thread):
    texts = {"request": json.dumps(REQUEST, indent=1), "answer": json.dumps(ANSWER), "curl": CURL, "code": CODE}
    for name, text in {**texts, "representation": REPRESENTATION}.items():
        thread = thread.replace(f"{{{name}}}", text)
    case = read_failure([thread])
    assert (len(case.constraints), case.max_tokens, case.output, case.finish) == (1, 9, b'{"a": 1', "length")


def test_announced_values_are_a_schema_and_an_output():
    case = read_failure([f'Schema:\n{json.dumps(SCHEMA)}\nOutput:\n{{"b": 1}}\n'])
    assert ([one.notation for one in case.constraints], case.output) == (["json_schema"], b'{"b": 1}')


@pytest.mark.parametrize(
    "thread",
    [
        "I use this schema:\n\n    {schema}\n\nand the model answers\n\n    {output}\n\nWhat is wrong?\n",
        "Schema\n```\n{schema}\n```\nit answers\n```\n{output}\n```\nWhat is wrong?\n",
        "> ```\n> {schema}\n> ```\n> it answers\n> ```\n> {output}\n> ```\n",
        "```bash\nvllm serve m --port 8000\n```\n```\n{schema}\n```\n```\n{output}\n```\n",
    ],
)
@pytest.mark.parametrize("output", ['{"a": 1,}', "{'a': 1}", '{"a": True}', '{"a": 1}'])
def test_an_output_is_judged_as_it_is_written(thread, output):
    case = read_failure([thread.replace("{schema}", json.dumps(SCHEMA)).replace("{output}", output)])
    assert (len(case.constraints), (case.output or b"").rstrip()) == (1, output.encode())


def test_what_a_user_asks_behind_a_schema_is_no_output():
    assert read_failure([f"My schema:\n{json.dumps(SCHEMA)}\nWhat is wrong with it?\n"]).output is None


@pytest.mark.parametrize("opener", ["Sure! Here is the JSON:", "Here's your answer:"])
@pytest.mark.parametrize("form", ["{opener}\n\n```json\n{{}}\n```\n", "{opener}\n{{}}\n"])
def test_a_line_with_which_a_model_begins_is_never_taken_off(opener, form):
    intake = read_intake([json.dumps(REQUEST), form.format(opener=opener)])
    assert intake.question is not None or opener.encode() in (intake.case.output or b"")


def test_the_text_behind_a_program_is_the_output():
    assert read_failure([f"{CODE}print(r)\nAda is 36 years old, and: that is all.\n"]).output == (
        b"Ada is 36 years old, and: that is all.\n"
    )


def test_the_fields_of_a_printed_model_are_read():
    text = "role='assistant' content='{\\n\\n{\"a\": 1}' thinking=None tool_calls=None"
    case = read_failure([PastedText(json.dumps(REQUEST), TextKind.REQUEST), PastedText(text, TextKind.RESPONSE)])
    assert case.output == b'{\n\n{"a": 1}'


def test_the_parameters_in_a_log_are_the_request_if_there_is_no_other():
    log = (
        "INFO [logger.py:43] Received request c-1: prompt: 'Hi', params: SamplingParams(n=1, stop=[], max_tokens=16, "
        f"guided_decoding=GuidedDecodingParams(json={SCHEMA!r}, regex=None)), lora_request: None.\n"
    )
    case = read_failure([PastedText(log, TextKind.LOG)])
    assert (len(case.constraints), case.max_tokens) == (1, 16)
    other = read_failure([PastedText(json.dumps(REQUEST), TextKind.REQUEST), PastedText(log, TextKind.LOG)])
    assert (len(other.constraints), other.max_tokens) == (1, 9)
