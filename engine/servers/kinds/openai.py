"""Any other server with OpenAI's routes, of which nothing but the routes is known."""

from __future__ import annotations

from engine.servers.client import ServerClient
from engine.servers.identity import Distribution, MaskOrder, ServerCapabilities, ServerIdentity, listed_models

CAPABILITIES = ServerCapabilities(
    Distribution.TOP,
    most_listed=20,
    order=MaskOrder.UNKNOWN,
    gives_ids=False,
    gives_bytes=True,
    reads_ids=None,
    takes_mask=None,
    shows_mask=False,
    applies_template=None,
)


class OpenAICompatible:
    """The kind of servers with OpenAI's routes; for the attributes see `ServerKind`."""

    title = "OpenAI-compatible"

    def identify(self, client: ServerClient) -> ServerIdentity | None:
        """See `ServerKind`: it lists models."""
        names = tuple(str(one["id"]) for one in listed_models(client))
        return ServerIdentity("openai", "", names[0], names, CAPABILITIES) if names else None


SERVER = OpenAICompatible()
