"""Ways of asking vLLM (`entrypoints/openai/chat_completion/protocol.py` of 0.33.0; `guided_json` as in 0.11)."""

from __future__ import annotations

from engine.diagnosis.server_probe.asking import Asking, AskingWay, at, chat_route, chat_ways, template_switch
from engine.servers.grammar_form import GrammarForm

_CHAT = chat_route(counts_streams=True, top_k=-1, min_p=0.0)
_STRUCTURED = (0, 12)

ASKING = Asking(
    (
        *chat_ways(_CHAT, template_switch),
        *(
            AskingWay(f"structured_outputs.{name}", _CHAT, form, at("structured_outputs", name), since=_STRUCTURED)
            for name, form in (
                ("json", GrammarForm.JSON_SCHEMA),
                ("regex", GrammarForm.REGEX),
                ("grammar", GrammarForm.GRAMMAR),
                ("choice", GrammarForm.CHOICE),
            )
        ),
        AskingWay("guided_json", _CHAT, GrammarForm.JSON_SCHEMA, at("guided_json"), until=_STRUCTURED),
        AskingWay("guided_regex", _CHAT, GrammarForm.REGEX, at("guided_regex"), until=_STRUCTURED),
    ),
    ("json_schema", "grammar"),
    "vllm",
)
