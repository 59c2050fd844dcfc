"""Secrets are removed from pasted texts, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.diagnosis.intake import read_failure, remove_secrets
from engine.diagnosis.intake.secrets import MARK

KEY = "sk-" + "proj-AbC123dEf456GhI789jKl012"
PLANTED = [
    f"Authorization: Bearer {KEY}",
    "curl -H 'Authorization: Bearer abcDEF123456' http://h",
    'curl -H "authorization: Basic dXNlcjpwYXNz" http://h',
    '{"headers": {"Authorization": "Bearer abcDEF123456"}}',
    "headers = {'Authorization': f'Bearer abcDEF123456'}",
    '{\\"Authorization\\": \\"Bearer abcDEF123456\\"}',
    "Authorization: Token abcDEF123456",
    "x-api-key: abcDEF123456",
    'client = OpenAI(api_key="abcDEF123456", base_url="http://h")',
    "OpenAI(api_key = 'abcDEF123456')",
    '{"api_key": "abcDEF123456"}',
    '{"openai_api_key":"abcDEF123456"}',
    "llama-server --api-key abcDEF123456 -m m.gguf",
    "vllm serve m --api-key=abcDEF123456",
    "export OPENAI_API_KEY=abcDEF123456",
    "HF_TOKEN='abcDEF123456' python x.py",
    'os.environ["HF_TOKEN"] = "abcDEF123456"',
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYabcDEF123456",
    "curl http://user:abcDEF123456@host/v1",
    "https://abcDEF123456@host:8000/",
    "curl -u user:abcDEF123456 http://h",
    "curl --user=user:abcDEF123456 http://h",
    "http://h/v1?api_key=abcDEF123456&x=1",
    "http://h/v1?key=abcDEF123456",
    "Cookie: session=abcDEF123456",
    "curl -H 'Cookie: session=abcDEF123456' http://h",
    "-----BEGIN RSA PRIVATE KEY-----\nabcDEF123456\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\nabcDEF123456",
]  # fmt: skip
FORMS = [
    KEY,
    "sk-" + "ant-api03-AbC123dEf456GhI789",
    "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz123456",
    "ghp_" + "AbCdEfGhIjKlMnOpQrStUvWxYz123456",
    "AKIA" + "IOSFODNN7EXAMPLE",
    "AIza" + "SyA1234567890abcdefghijklmnopqrstuv",
    "xoxb-" + "123456789012-abcdefghijkl",
    "gsk_" + "AbCdEfGhIjKlMnOpQrStUvWx",
    "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0In0.abcdefghijkl",
]


@pytest.mark.parametrize("text", PLANTED)
def test_a_secret_is_removed_by_the_name_before_it(text):
    clean, count = remove_secrets(text)
    assert "abcDEF123456" not in clean
    assert "dXNlcjpwYXNz" not in clean
    assert KEY not in clean
    assert count >= 1
    assert MARK in clean
    assert remove_secrets(clean) == (clean, 0)


@pytest.mark.parametrize("filler", ["\n" + "the usual text, 12 words or so\n" * 4_000, "\n" + "\u0130-u-key_" * 9_000])
def test_a_long_text_is_cleaned_as_its_lines_are(filler):
    lines = [one for one in (*PLANTED, *FORMS) if "BEGIN" not in one]
    clean, count = remove_secrets(filler + f"{filler}\n".join(lines))
    found = [remove_secrets(line) for line in lines]
    assert clean == filler + f"{filler}\n".join(line for line, _ in found)
    assert count == sum(number for _, number in found)


@pytest.mark.parametrize("secret", FORMS)
@pytest.mark.parametrize("around", ["{}", '{{"note": "{}"}}', "token {} is bad", "key={}\n"])
def test_a_secret_is_removed_by_its_form(secret, around):
    clean, count = remove_secrets(around.format(secret))
    assert secret not in clean
    assert count == 1


@pytest.mark.parametrize(
    "text",
    [
        '{"properties": {"api_key": {"type": "string"}, "Authorization": {"type": "string"}}, "required": ["api_key"]}',
        'client = OpenAI(api_key=os.environ["OPENAI_API_KEY"])',
        'curl -H "Authorization: Bearer $OPENAI_API_KEY" http://h',
        "export OPENAI_API_KEY=$KEY",
        '{"token": "abcdefghijkl", "logprob": -0.5, "max_tokens": 100, "token_ids": [1, 2, 3]}',
        '{"messages": [{"role": "user", "content": "Send it to anna@example.com or http://example.com/a@b"}]}',
        'root ::= "sk-" [a-z]{16,}',
        "^(sk|hf)_[A-Za-z0-9]+$",
        "skip-this-very-long-name-with-hyphens-and-more",
        "the key: value pairs, a token limit = 100",
    ],
)
def test_what_is_no_secret_stays(text):
    assert remove_secrets(text) == (text, 0)


def test_a_failure_never_contains_a_secret():
    body = {
        "messages": [{"role": "user", "content": f"My key is {KEY}"}],
        "guided_regex": "a",
        "api_key": "abcDEF123456",
    }
    url = "http://u:abcDEF123456@h:8000/v1/chat/completions"
    texts = [
        f"curl -H 'Authorization: Bearer {KEY}' {url} -d '{json.dumps(body)}'",
        json.dumps({"choices": [{"message": {"content": f"It is {KEY}"}}]}),
        f"ERROR failed to parse grammar for {KEY}",
    ]
    case = read_failure(texts)
    assert KEY not in repr(case)
    assert "abcDEF123456" not in repr(case)
    assert case.removed_secrets >= 5
    assert (case.server, len(case.log)) == ("vllm", 1) or case.log


def test_a_long_text_takes_no_long_time():
    clean, count = remove_secrets("a-key-token-" * 100_000 + "x" * 1_000_000)
    assert (len(clean), count) == (2_200_000, 0)


def test_no_sample_of_this_repository_has_one():
    folder = Path(__file__).resolve().parents[4] / "tests" / "data"
    for path in sorted(folder.rglob("*.json"))[:50]:
        assert remove_secrets(path.read_text("utf-8"))[1] == 0
