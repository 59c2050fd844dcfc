"""Ways of asking SGLang (`srt/entrypoints/openai/protocol.py` and `srt/sampling/sampling_params.py` of 0.5.23)."""

from __future__ import annotations

import json
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
    template_switch,
)
from engine.servers.grammar_form import GrammarForm


def _generate_body(question: Question) -> dict[str, Any]:
    heat = {"temperature": 2.0, "top_p": 1.0, "top_k": -1} if question.is_hot else {"temperature": 0}
    settings = {"max_new_tokens": question.most_tokens, "sampling_seed": SEED, **heat}
    return {"text": question.prompt, "sampling_params": settings, "stream": False}


_CHAT = chat_route(counts_streams=True, top_k=-1, min_p=0.0)
_GENERATE = AskingRoute("/generate", False, _generate_body)

ASKING = Asking(
    (
        *chat_ways(_CHAT, template_switch),
        AskingWay("regex", _CHAT, GrammarForm.REGEX, at("regex")),
        AskingWay("ebnf", _CHAT, GrammarForm.GRAMMAR, at("ebnf")),
        *(
            AskingWay(f"/generate {name}", _GENERATE, form, at("sampling_params", name))
            for name, form in (
                ("regex", GrammarForm.REGEX),
                ("ebnf", GrammarForm.GRAMMAR),
            )
        ),
        AskingWay(
            "/generate json_schema",
            _GENERATE,
            GrammarForm.JSON_SCHEMA,
            lambda schema: {"sampling_params": {"json_schema": _as_text(schema)}},
        ),
    ),
    ("structured_outputs", "grammar"),
    "sglang",
)


def _as_text(schema: Any) -> str:
    """Return a schema as the text that this field takes."""
    return json.dumps(schema)
