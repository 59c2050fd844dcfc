"""Ways of asking a server with OpenAI's interface, of which nothing more is known."""

from __future__ import annotations

from engine.diagnosis.server_probe.asking import Asking, chat_route, chat_ways

ASKING = Asking(chat_ways(chat_route()), ("structured_outputs", "json_schema", "grammar"), "openai")
