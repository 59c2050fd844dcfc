"""Ollama: read only; the best 20 tokens before the mask, without ids."""

from __future__ import annotations

from engine.servers.client import ServerClient
from engine.servers.identity import Distribution, MaskOrder, ServerCapabilities, ServerIdentity, answer_of

CAPABILITIES = ServerCapabilities(
    Distribution.TOP,
    most_listed=20,
    order=MaskOrder.BEFORE,
    gives_ids=False,
    gives_bytes=True,
    reads_ids=False,
    takes_mask=False,
    shows_mask=False,
    applies_template=False,
)


class Ollama:
    """The kind of Ollama; for the attributes see `ServerKind`."""

    title = "Ollama"

    def identify(self, client: ServerClient) -> ServerIdentity | None:
        """See `ServerKind`: `/api/version` has the version and nothing else."""
        about = answer_of(client, "/api/version")
        if not isinstance(about, dict) or "version" not in about:
            return None
        tags = answer_of(client, "/api/tags")
        listed = tags.get("models") if isinstance(tags, dict) else None
        if not isinstance(listed, list):
            return None
        names = tuple(str(one["name"]) for one in listed if isinstance(one, dict) and one.get("name"))
        return ServerIdentity("ollama", str(about["version"]), names[0] if names else "", names, CAPABILITIES)


SERVER = Ollama()
