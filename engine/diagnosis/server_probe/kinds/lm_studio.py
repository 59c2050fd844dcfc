"""Ways of asking LM Studio: those of OpenAI's interface; its documentation names no other field for a grammar."""

from __future__ import annotations

from engine.diagnosis.server_probe.asking import Asking, chat_route, chat_ways

ASKING = Asking(chat_ways(chat_route(top_k=0)), ("structured_outputs", "json_schema", "grammar"))
