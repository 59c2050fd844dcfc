"""LM Studio: read only; its log-probabilities are mostly empty."""

from __future__ import annotations

from engine.servers.client import ServerClient
from engine.servers.identity import Distribution, MaskOrder, ServerCapabilities, ServerIdentity, answer_of

CAPABILITIES = ServerCapabilities(
    Distribution.NONE,
    most_listed=None,
    order=MaskOrder.UNKNOWN,
    gives_ids=False,
    gives_bytes=None,
    reads_ids=False,
    takes_mask=False,
    shows_mask=False,
    applies_template=False,
)


class LmStudio:
    """The kind of LM Studio; for the attributes see `ServerKind`."""

    title = "LM Studio"

    def identify(self, client: ServerClient) -> ServerIdentity | None:
        """See `ServerKind`: the models of `/api/v0/models` have a state; a loaded one is the default."""
        listed = answer_of(client, "/api/v0/models")
        data = listed.get("data") if isinstance(listed, dict) else None
        if not isinstance(data, list):
            return None
        models = [one for one in data if isinstance(one, dict) and one.get("id") and "state" in one]
        models.sort(key=lambda one: one["state"] != "loaded")
        if not models:
            return None
        context = models[0].get("loaded_context_length") or models[0].get("max_context_length")
        names = tuple(str(one["id"]) for one in models)
        return ServerIdentity(
            "lm-studio",
            "",
            names[0],
            names,
            CAPABILITIES,
            context_length=context if isinstance(context, int) else None,
        )


SERVER = LmStudio()
