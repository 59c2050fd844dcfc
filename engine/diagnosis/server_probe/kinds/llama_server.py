"""Ways of asking llama-server (`tools/server` of llama.cpp 0.5.0)."""

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
    template_switch,
)
from engine.diagnosis.server_probe.llama_text_judge import LlamaRuleJudge, LlamaTextJudge
from engine.servers.grammar_form import GrammarForm


def _completion_body(question: Question) -> dict[str, Any]:
    heat = {"temperature": 2.0, "top_p": 1.0, "top_k": 0, "min_p": 0.0} if question.is_hot else {"temperature": 0}
    return {"prompt": question.prompt, "n_predict": question.most_tokens, "seed": SEED, **heat}


_CHAT = chat_route(counts_streams=True, top_k=0, min_p=0.0)
_COMPLETION = AskingRoute("/completion", False, _completion_body)

ASKING = Asking(
    (
        *chat_ways(_CHAT, template_switch),
        AskingWay("json_schema", _CHAT, GrammarForm.JSON_SCHEMA, at("json_schema")),
        AskingWay("grammar", _CHAT, GrammarForm.GRAMMAR, at("grammar")),
        AskingWay("/completion json_schema", _COMPLETION, GrammarForm.JSON_SCHEMA, at("json_schema")),
        AskingWay("/completion grammar", _COMPLETION, GrammarForm.GRAMMAR, at("grammar")),
    ),
    ("structured_outputs",),
    "llama.cpp",
    {GrammarForm.JSON_SCHEMA: LlamaTextJudge, GrammarForm.GRAMMAR: LlamaRuleJudge},
)
