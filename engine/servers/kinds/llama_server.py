"""llama-server, the HTTP server of llama.cpp: the whole distribution, its own mask, and ours by biases."""

from __future__ import annotations

from engine.servers.client import ServerClient
from engine.servers.identity import (
    Distribution,
    MaskOrder,
    ServerCapabilities,
    ServerIdentity,
    answer_of,
    listed_models,
)

CAPABILITIES = ServerCapabilities(
    Distribution.FULL,
    most_listed=None,
    order=MaskOrder.BEFORE,
    gives_ids=True,
    gives_bytes=True,
    reads_ids=True,
    takes_mask=True,
    shows_mask=True,
    applies_template=True,
)


class LlamaServer:
    """The kind of llama-server; for the attributes see `ServerKind`."""

    title = "llama-server"

    def identify(self, client: ServerClient) -> ServerIdentity | None:
        """See `ServerKind`: `/props` has the build and the template."""
        props = answer_of(client, "/props")
        if not isinstance(props, dict) or "default_generation_settings" not in props:
            return None
        models = tuple(str(one["id"]) for one in listed_models(client))
        settings = props["default_generation_settings"]
        context = settings.get("n_ctx") if isinstance(settings, dict) else None
        template = props.get("chat_template")
        return ServerIdentity(
            "llama-server",
            str(props.get("build_info", "")),
            models[0] if models else "",
            models,
            CAPABILITIES,
            context_length=context if isinstance(context, int) and context > 0 else None,
            chat_template=template if isinstance(template, str) and template else None,
            model_path=str(props.get("model_path", "")),
        )


SERVER = LlamaServer()
