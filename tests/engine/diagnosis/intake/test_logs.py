"""The catalogue of messages, and logs as they are pasted."""

from __future__ import annotations

import pytest

from engine.diagnosis.case import FailureCase
from engine.diagnosis.failures.diagnosis import Cause
from engine.diagnosis.intake import known_messages, read_failure, read_log

LINES = {
    "llama-empty-stack": "  what():  Unexpected empty grammar stack after accepting piece: <unused32> (55)",
    "llama-unknown-escape": 'parse: error parsing grammar: unknown escape at \\!"',
    "llama-repetitions": "parse: error parsing grammar: number of repetitions exceeds sane defaults, please",
    "llama-left-recursion": "unsupported grammar, left recursion detected for nonterminal at index 3",
    "llama-no-root": "llama_grammar_init_impl: grammar does not contain a 'root' symbol",
    "llama-undefined-rule": "parse: error parsing grammar: Undefined rule identifier 'keywords-rest'",
    "llama-grammar-syntax": "parse: error parsing grammar: expecting newline or end at | x",
    "llama-parse-failed": "llama_grammar_init_impl: failed to parse grammar",
    "llama-schema-conversion": "JSON schema conversion failed: at /properties/a",
    "llama-schema-incomplete": "WARNING: JSON schema conversion was incomplete: Pattern must be anchored",
    "llama-unrecognized-schema": 'Unrecognized schema: {"type":"any"}',
    "llama-pattern-anchors": "Pattern must start with '^' and end with '$'",
    "llama-trigger-token": "Grammar trigger word should be marked as preserved token: <tool_call>",
    "llama-no-triggers": "Error: no triggers set for lazy grammar!",
    "llama-both-constraints": 'Either "json_schema" or "grammar" can be specified, but not both',
    "llama-context": "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it",
    "llama-jinja": "tools param requires --jinja flag",
    "vllm-draft-refused": "Failed to advance FSM for request chatcmpl-1 for tokens 71093. Please file an issue.",
    "vllm-fields-ignored": "The following fields were present in the request but ignored: {'guided_json'}",
    "vllm-xgrammar-features": "The provided JSON schema contains features not supported by xgrammar.",
    "vllm-schema-transform": "Failed to transform regex into a grammar: Unclosed [",
    "vllm-invalid-grammar": "ValueError: Invalid grammar specification.",
    "vllm-regex-timeout": "ValueError: Regex compilation timed out after 5s. The pattern may be too complex or contain",
    "vllm-backend-latched": "ERROR [core.py:700] EngineCore encountered a fatal error.",
    "vllm-matcher-error": "LLMatcher error: Unknown thing",
    "vllm-empty-mask": "Unexpected: grammar rejected tokens [0] for request 1-9a368fa2. Terminating request.",
    "vllm-rejected-tokens": "Unexpected: grammar rejected tokens [200028, 7] for request x. Terminating request.",
    "vllm-context": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
    "vllm-reasoning-parser": "Qwen3 reasoning parser could not locate think start/end tokens in the tokenizer!",
    "vllm-unknown-reasoning-parser": "KeyError: \"reasoning parser: 'deepseek' not found in reasoning_parsers\"",
    "sglang-skipped": "WARNING Skip invalid json_schema: json_schema='{', e=RuntimeError()",
    "sglang-compile": "Failed to compile json grammar: invalid schema",
    "sglang-timeout": "Grammar preprocessing timed out for req.grammar_key=('json', '{}')",
    "sglang-unsupported": "JSON Schema at #/properties/a is not supported by xgrammar: keyword(s) not would be ignored",
    "sglang-bounds": "JSON schema estimated DFA states (12000) exceeds maximum allowed (10000). Schema may cause DoS",
    "sglang-no-backend": "Grammar-based generation (json_schema, regex, ebnf, structural_tag) is not supported when "
    "the server is launched with --grammar-backend none",
    "xgrammar-terminated": "The matcher has terminated after accepting the stop token, but is "
    "trying to accept new token with id 13.",
    "xgrammar-special": "GrammarMatcher cannot accept special token id 7: <|im_start|>. Rejecting the token.",
    "xgrammar-token-range": "The token id 152000 is out of range [0, 151669). Rejecting the token.",
    "xgrammar-keyword": "Keyword uniqueItems is not supported",
    "xgrammar-lookahead": "Lookahead assertion is not supported and is ignored in regex: (?=a)b",
    "xgrammar-regex": "Word boundary is not supported yet.",
    "xgrammar-ebnf": "EBNF lexer error at line 2, column 5: Unexpected character: $",
    "llguidance-unimplemented": 'Unimplemented keys: ["uniqueItems"]',
    "llguidance-format": "Unknown format: isbn",
    "llguidance-unsatisfiable": "Unsatisfiable schema: minLength is greater than maxLength",
    "llguidance-token": "token \"x\" doesn't satisfy the grammar; byte 'x' fails parse",
    "llguidance-rows": "Current row has 2001 items; max is 2000; consider making your grammar left-recursive",
    "outlines-anchored": "Index failed since anchored universal start state doesn't exist",
    "outlines-vocabulary": "The vocabulary provided is incompatible with the regex 'a b'. Found no transitions",
    "outlines-schema": "Format ipv9 is not supported by Outlines",
    "outlines-regex": "ValueError: Failed to build DFA error building NFA",
    "outlines-dfa": "Failed to build DFA number of DFA states exceeds limit of 2147483646",
    "ollama-format": '{"error":"invalid format: \\"x\\"; expected \\"json\\" or a valid JSON Schema object"}',
    "ollama-vocabulary": "failed to load model vocabulary required for format",
    "ollama-truncated": 'level=WARN msg="truncating input prompt" limit=4096 prompt=9000 keep=5 new=4096',
    "ollama-too-long": "the input length exceeds the context length",
    "tensor-width": "RuntimeError: The size of tensor a (50432) must match the size of tensor b (50277) at dimension 1",
    "nan-probabilities": "RuntimeError: probability tensor contains either `inf`, `nan` or element < 0",
    "openai-strict-schema": "Error code: 400 - {'error': {'message': \"Invalid schema for response_format 'Person': In "
    "context=(), 'additionalProperties' is required to be supplied and to be false.\"}}",
    "client-length": "instructor: The output is incomplete due to a max_tokens length limit.",
    "client-filter": "openai.ContentFilterFinishReasonError: Could not parse response content",
    "server-schema-field": "{'type': 'missing', 'loc': ('body', 'response_format', 'json_schema', 'schema'), "
    "'msg': 'Field required'}",
    "sglang-refused-token": "Grammar accept_token failed for req 7a1f with token 151645: Tokens not accepted: [151645]",
    "vllm-lark": "ValueError: Failed to convert the grammar from Lark to EBNF.",
    "vllm-tool-parser": "ERROR [hermes_tool_parser.py:110] Error in extracting tool call from response.",
    "outlines-translate": "NotImplementedError: Could not translate the object {'title': 'Meta'} to regex.",
    "openai-model": "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
    "openai-word-json": "'messages' must contain the word 'json' in some form, to use 'response_format'",
    "ollama-tools": '{"error":"registry.ollama.ai/library/gemma3:latest does not support tools"}',
    "vllm-two-constraints": "You can only use one kind of structured outputs constraint but multiple are specified",
    "vllm-mistral-tokenizer": "Non-tekken Mistral tokenizers are not supported for the 'xgrammar' structured output",
    "vllm-auto-tools": '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    "sglang-regex": "[2025-08-11 07:00:00] Hit invalid regex schema: regex='(?=a)', e=InvalidSyntax()",
    "rust-lookaround": "error: look-around, including look-ahead and look-behind, is not supported",
    "client-json-end": "  Invalid JSON: EOF while parsing a string at line 1 column 512 [type=json_invalid]",
    "client-json-extra": "json.decoder.JSONDecodeError: Extra data: line 2 column 1 (char 35)",
    "client-json-start": "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
    "client-json-syntax": "JSONDecodeError: Expecting property name enclosed in double quotes: line 4 column 1",
}


def test_a_message_that_another_one_explains_comes_last() -> None:
    general, precise = "llama-parse-failed", "llama-undefined-rule"
    found = read_log(f"{LINES[general]}\n{LINES[precise]}")
    assert [(one.message, one.line) for one in found] == [(precise, 2), (general, 1)]


def test_every_message_of_the_catalogue_has_an_example_that_no_other_takes():
    assert set(LINES) == set(known_messages())
    assert {name: [one.message for one in read_log(line)] for name, line in LINES.items()} == {
        name: [name] for name in LINES
    }


def test_the_catalogue_is_large_and_names_known_causes():
    messages = known_messages().values()
    assert len(messages) >= 35
    causes = set(map(str, Cause))
    assert [one.id for one in messages if one.cause and one.cause not in causes] == []
    assert [one.id for one in messages if not (one.sentence and one.setting and one.next and one.source)] == []
    engines = {one.engine for one in messages}
    assert engines >= {"llama.cpp", "vllm", "sglang", "xgrammar", "llguidance", "outlines", "ollama"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Unexpected: grammar rejected tokens [10429, 13] for request r-1.", "vllm-rejected-tokens"),
        ("Grammar compilation raised an exception: bad, grammar_key=('json', '{}')", "sglang-compile"),
        ("Grammar preprocessing timed out: req.grammar_key=('json', '{}')", "sglang-timeout"),
        (
            "GrammarMatcher has terminated after accepting the stop token, but is trying to find the",
            "xgrammar-terminated",
        ),
        ("multipleOf is not supported for type:number; ignoring multipleOf", "xgrammar-keyword"),
        ("Word boundary assertion \\b is not supported in regex", "xgrammar-regex"),
        ("Failed to build DFA unsupported regex feature for DFAs: cannot build DFAs for", "outlines-regex"),
        ("Ref recusion limit reached: 3", "outlines-schema"),
        ("SyntaxError: Unexpected end of JSON input", "client-json-end"),
        ("SyntaxError: Unterminated string in JSON at position 87", "client-json-end"),
        ("JSONDecodeError: Unterminated string starting at: line 1 column 10 (char 9)", "client-json-end"),
        ("Invalid JSON: EOF while parsing an object at line 1 column 9", "client-json-end"),
        ("SyntaxError: Unexpected token '`', \"```json\" is not valid JSON", "client-json-start"),
        ("Invalid JSON: expected value at line 1 column 1", "client-json-start"),
        ("Invalid JSON: trailing characters at line 3 column 2", "client-json-extra"),
        ("Invalid JSON: trailing comma at line 3 column 2", "client-json-syntax"),
        ("JSONDecodeError: Expecting ',' delimiter: line 1 column 25 (char 24)", "client-json-syntax"),
        ("JSONDecodeError: Invalid control character at: line 1 column 9 (char 8)", "client-json-syntax"),
        ("JSONDecodeError: Invalid \\escape: line 1 column 9 (char 8)", "client-json-syntax"),
    ],
)
def test_errors_of_json_parsers_are_known(line, message):
    (found,) = read_log(line)
    assert found.message == message


def test_a_finding_has_its_line_and_the_values_of_the_message():
    log = f"starting\n\nERROR x {LINES['vllm-draft-refused']}\nend\n"
    (found,) = read_log(log)
    assert (found.line, found.values) == (3, {"request": "chatcmpl-1", "tokens": "71093"})
    assert found.text.startswith("ERROR x Failed")


def test_a_long_log_is_read_and_equal_lines_count_once():
    line = "llama_grammar_init_impl: failed to parse grammar\n"
    log = "INFO nothing of interest here\n" * 50_000 + line + "INFO nothing\n" + line
    (found,) = read_log(log)
    assert found.line == 50_001


@pytest.mark.parametrize(
    ("log", "server", "version"),
    [
        ("INFO 07-11 [api_server.py:1787] vLLM API server version 0.11.0", "vllm", "0.11.0"),
        ("build: 5289 (91a86a6f) with cc", "llama.cpp", "5289"),
        (
            'time=x level=INFO source=routes.go:1 msg="Listening on 127.0.0.1:11434 (version 0.12.3)"',
            "ollama",
            "0.12.3",
        ),
        ("llama_grammar_init_impl: failed to parse grammar", "llama.cpp", ""),
    ],
)
def test_a_log_names_the_server_and_its_version(log, server, version):
    case = read_failure([log])
    assert (case.server, case.version) == (server, version)


def test_the_error_of_a_response_is_read_as_a_log_too():
    case = read_failure(
        ['{"error": {"code": 400, "message": "Failed to initialize samplers: failed to parse grammar"}}']
    )
    assert [one.message for one in case.log] == ["llama-parse-failed"]
    assert case.status.startswith("400")


def test_a_text_without_a_known_message_has_no_finding():
    assert read_log("INFO all is well\n" * 10) == ()
    assert read_failure([]) == FailureCase()
