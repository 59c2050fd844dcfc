"""Ways of asking Ollama (`api/types.go`, `openai/openai.go` of 0.32.15)."""

from __future__ import annotations

from typing import Any

from engine.diagnosis.server_probe.asking import (
    SEED,
    Asking,
    AskingRoute,
    AskingWay,
    Question,
    at,
    chat_route,
    chat_ways,
)
from engine.servers.grammar_form import GrammarForm


def _options(question: Question) -> dict[str, Any]:
    heat = {"temperature": 2.0, "top_p": 1.0, "top_k": 0, "min_p": 0.0} if question.is_hot else {"temperature": 0}
    return {
        "model": question.model,
        "stream": False,
        "options": {"num_predict": question.most_tokens, "seed": SEED, **heat},
    }


def _chat_body(question: Question) -> dict[str, Any]:
    return {**_options(question), "messages": [{"role": "user", "content": question.prompt}]}


def _generate_body(question: Question) -> dict[str, Any]:
    return {**_options(question), "prompt": question.prompt}


_CHAT = AskingRoute("/api/chat", False, _chat_body)
_GENERATE = AskingRoute("/api/generate", False, _generate_body)
_SCHEMA = GrammarForm.JSON_SCHEMA

ASKING = Asking(
    (
        AskingWay("format", _CHAT, _SCHEMA, at("format")),
        AskingWay("format, stream", _CHAT, _SCHEMA, at("format"), streams=True),
        *(
            AskingWay(
                f"format, thinking {'on' if on else 'off'}",
                _CHAT,
                _SCHEMA,
                at("format"),
                beside={"think": on},
                switches_thinking=True,
            )
            for on in (True, False)
        ),
        AskingWay("/api/generate format", _GENERATE, _SCHEMA, at("format")),
        *chat_ways(chat_route())[:1],
    ),
    ("structured_outputs", "json_schema", "grammar", "tools, required"),  # it has no `tool_choice`
    "ollama",
)
