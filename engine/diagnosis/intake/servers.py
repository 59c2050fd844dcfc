"""The server that a request is for, and the fields in which that server reads a constraint.

A field alone often names the server: only llama-server has `grammar_lazy`, only vLLM `structured_outputs`. An address
or a line of a log counts more than a field.

Sources: the protocol classes of vLLM 0.33 (`entrypoints/openai`) and SGLang 0.5.23 (`entrypoints/openai/protocol.py`,
`managers/io_struct.py`), llama.cpp's `tools/server` and Ollama's `api/types.go` and `openai/openai.go`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from engine.diagnosis.case import FailureCase, RequestConstraint
from engine.grammar.options import CompileOptions

LLAMA_CPP: Final = "llama.cpp"
OLLAMA: Final = "ollama"
OPENAI: Final = "openai"
SGLANG: Final = "sglang"
VLLM: Final = "vllm"

CHAT: Final = "chat"
COMPLETIONS: Final = "completions"
RESPONSES: Final = "responses"
GENERATE: Final = "generate"
COMPLETION: Final = "completion"

_PATHS: Final = (
    ("/chat/completions", CHAT),
    ("/api/chat", CHAT),
    ("/responses", RESPONSES),
    ("/completions", COMPLETIONS),
    ("/completion", COMPLETION),
    ("/generate", GENERATE),
)
_PORTS: Final = {11434: OLLAMA, 30000: SGLANG, 8080: LLAMA_CPP, 8000: VLLM}
_HOSTS: Final = {"api.openai.com": OPENAI}
_FIELDS: Final = (
    (VLLM, frozenset("structured_outputs guided_json guided_regex guided_choice guided_grammar".split())),
    (VLLM, frozenset("guided_decoding_backend guided_whitespace_pattern vllm_xargs allowed_token_ids".split())),
    (VLLM, frozenset(("truncate_prompt_tokens", "return_token_ids", "prompt_logprobs", "structural_tag"))),
    (SGLANG, frozenset(("sampling_params", "ebnf", "regex", "separate_reasoning", "stream_reasoning", "lora_path"))),
    (LLAMA_CPP, frozenset("grammar_lazy grammar_triggers n_predict cache_prompt n_probs id_slot".split())),
    (LLAMA_CPP, frozenset("samplers mirostat repeat_last_n preserved_tokens t_max_predict_ms grammar".split())),
    (LLAMA_CPP, frozenset(("reasoning_format", "post_sampling_probs", "json_schema", "thinking_forced_open"))),
    (OLLAMA, frozenset(("keep_alive", "raw", "format", "think"))),
    (OPENAI, frozenset(("store", "service_tier", "prompt_cache_key", "safety_identifier", "verbosity"))),
)
"""Fields of request bodies by the server that alone has them; the first row with a field of the request counts."""
_OPENAI_MODELS: Final = re.compile(r"(gpt-[345]|chatgpt-|o[134](-|$)|codex-)")
_OPEN_WEIGHTS: Final = re.compile(r"gpt-oss|/")
_FINGERPRINTS: Final = ((re.compile(r"b\d+-[0-9a-f]+"), LLAMA_CPP), (re.compile("fp_ollama"), OLLAMA))
_BUILD: Final = re.compile(r"(b\d+)-[0-9a-f]+")

_GUIDED: Final = ("guided_json", "guided_regex", "guided_choice", "guided_grammar")
_LAST_GUIDED: Final = (0, 11)  # the last version of vLLM that reads these fields
_READ: Final[Mapping[tuple[str, str], frozenset[str]]] = {
    (OPENAI, CHAT): frozenset(("response_format", "tools", "functions")),
    (OPENAI, RESPONSES): frozenset(("text.format", "tools")),
    (OPENAI, COMPLETIONS): frozenset(),
    (VLLM, CHAT): frozenset(("response_format", "structured_outputs", "tools")),
    (VLLM, COMPLETIONS): frozenset(("response_format", "structured_outputs")),
    (VLLM, RESPONSES): frozenset(("text.format", "structured_outputs", "tools")),
    (SGLANG, CHAT): frozenset(("response_format", "regex", "ebnf", "tools")),
    (SGLANG, COMPLETIONS): frozenset(("response_format", "json_schema", "regex", "ebnf", "structural_tag")),
    (SGLANG, RESPONSES): frozenset(("text.format", "tools")),
    (SGLANG, GENERATE): frozenset(("sampling_params",)),
    (LLAMA_CPP, CHAT): frozenset(("response_format", "json_schema", "grammar", "tools")),
    (LLAMA_CPP, COMPLETIONS): frozenset(("json_schema", "grammar")),
    (LLAMA_CPP, COMPLETION): frozenset(("json_schema", "grammar")),
    (LLAMA_CPP, RESPONSES): frozenset(("text.format", "tools")),
    (OLLAMA, CHAT): frozenset(("format", "tools")),
    (OLLAMA, GENERATE): frozenset(("format",)),
}
"""The fields in which an endpoint reads a constraint. Endpoints that are not listed are unknown."""
_OLLAMA_OPENAI: Final = {
    CHAT: frozenset(("response_format", "tools")),
    COMPLETIONS: frozenset[str](),
    RESPONSES: frozenset(("text.format", "tools")),
}
"""The fields that Ollama's endpoints under `/v1` read."""
_FLEXIBLE: Final = (LLAMA_CPP, OLLAMA)
"""The servers that bound the white space between the tokens of JSON; the others allow any."""


def interface_of(body: Mapping[str, Any], url: str = "") -> str:
    """Return the kind of endpoint that a request is for; empty if it cannot be seen."""
    path = _address(url).path.rstrip("/")
    for suffix, found in _PATHS:
        if path.endswith(suffix):
            return found
    if "input" in body or "previous_response_id" in body:
        return RESPONSES
    if body.keys() & {"messages", "response_format", "tools"} and "prompt" not in body:
        return CHAT
    if "sampling_params" in body:
        return GENERATE
    if "prompt" in body:
        server = server_of(body, url)
        return {OLLAMA: GENERATE, LLAMA_CPP: COMPLETION}.get(server, COMPLETIONS)
    return ""


def server_of(body: Mapping[str, Any], url: str = "") -> str:
    """Return the server that a request is for; empty if it cannot be seen."""
    address = _address(url)
    known = _HOSTS.get(address.netloc.rpartition("@")[2].partition(":")[0])
    if known is not None:
        return known
    if address.path.startswith(("/api/chat", "/api/generate")):
        return OLLAMA
    if address.path == "/completion":
        return LLAMA_CPP
    by_port = _PORTS.get(_port(address.netloc))
    if by_port == OLLAMA:
        return OLLAMA
    extra = body.get("extra_body")
    names = set(body) | (set(extra) if isinstance(extra, dict) else set())
    for server, fields in _FIELDS:
        is_native = server != OLLAMA or by_port is None or not address.path.startswith("/v1")
        if names & fields and is_native:  # Ollama's own fields are not those of its endpoints under `/v1`
            return server
    if isinstance(body.get("options"), dict):
        return OLLAMA
    if by_port is not None:
        return by_port
    model = str(body.get("model", ""))
    return OPENAI if _OPENAI_MODELS.match(model) and not _OPEN_WEIGHTS.search(model) else ""


def _address(url: str) -> SplitResult:
    """Return the parts of an address, which may be no valid one."""
    try:
        return urlsplit(url if "//" in url else f"//{url}")
    except ValueError:
        return urlsplit("")


def _port(netloc: str) -> int:
    digits = netloc.rpartition(":")[2]
    return int(digits) if digits.isdecimal() and len(digits) < 6 else 0


def server_of_response(body: Mapping[str, Any]) -> tuple[str, str]:
    """Return the server that sent a response, and its version as far as it says it; empty if it cannot be seen."""
    fingerprint = str(body.get("system_fingerprint") or "")
    for pattern, server in _FINGERPRINTS:
        if pattern.match(fingerprint):
            build = _BUILD.match(fingerprint)
            return server, "" if build is None else build[1]
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    if "stop_reason" in first or "prompt_logprobs" in body or "kv_transfer_params" in body:
        return VLLM, ""
    if "matched_stop" in first or "meta_info" in body:
        return SGLANG, ""
    if "timings" in body or "tokens_predicted" in body or "stop_type" in body:
        return LLAMA_CPP, ""
    if "done" in body or "eval_count" in body:
        return OLLAMA, ""
    return "", ""


def version_numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, such as (0, 11, 2); none if there are none."""
    match = re.match(r"v?(\d+(?:\.\d+)*)", version)
    return () if match is None else tuple(map(int, match[1].split(".")))


def ignored_places(case: FailureCase, *, url: str = "", is_http: bool = True) -> tuple[str, ...]:
    """Return the JSON Pointers of the constraints that the server of a case does not read.

    Args:
        case: the case.
        url: the address of the request.
        is_http: whether the request is a body as it is sent, in which `extra_body` is an unknown field, rather than
            the arguments of a Python client.
    """
    return tuple(
        dict.fromkeys(
            constraint.pointer
            for constraint in case.constraints
            if constraint.pointer and _is_ignored(constraint, case, url, is_http=is_http)
        )
    )


def _is_ignored(constraint: RequestConstraint, case: FailureCase, url: str, *, is_http: bool) -> bool:
    if is_http and constraint.pointer.startswith("/extra_body/"):
        return True
    if _lacks_schema_field(constraint):
        return True
    if not case.server:
        return False
    if constraint.pointer == "/response_format/schema" and case.server != LLAMA_CPP:
        return True
    if constraint.way in _GUIDED and case.server == VLLM:
        numbers = version_numbers(case.version)
        return not numbers or numbers[:2] > _LAST_GUIDED
    read = _READ.get((case.server, case.interface))
    if case.server == OLLAMA and "/v1" in url:
        read = _OLLAMA_OPENAI.get(case.interface)
    if read is None:
        return False
    way = constraint.pointer.split("/")[1] if constraint.pointer.startswith("/sampling_params") else constraint.way
    if way not in read:
        return True
    has_grammar = any(other.way == "grammar" for other in case.constraints)
    return case.server == LLAMA_CPP and way == "json_schema" and has_grammar  # of the two, it reads the grammar


def _lacks_schema_field(constraint: RequestConstraint) -> bool:
    """Return whether a schema is in the place of the object that should have it under `schema`."""
    field = constraint.pointer.rpartition("/")[2]
    nested = constraint.way == "text.format" and "/json_schema" in constraint.pointer
    return nested or (constraint.way == "response_format" and field == "json_schema")


def with_server_options(constraints: Iterable[RequestConstraint], server: str) -> tuple[RequestConstraint, ...]:
    """Return constraints with the white space that a server allows where the request does not choose it."""
    default = CompileOptions()
    own = default if server in _FLEXIBLE else CompileOptions(whitespace="any")
    return tuple(replace(one, options=own) if one.options == default else one for one in constraints)
