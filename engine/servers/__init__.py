"""Servers that generate with a model: a client, and what is known of each kind of server.

Importing this package loads no HTTP library; `ServerClient` does when it is created.
"""

from engine.servers.client import (
    BrokenConnectionError,
    RefusedRequestError,
    ServerClient,
    ServerError,
    ServerReply,
    SilentServerError,
    UnreachableServerError,
    UnreadableReplyError,
)
from engine.servers.identity import KINDS, ServerCapabilities, ServerIdentity, ServerKind, identify

__all__ = [
    "KINDS",
    "BrokenConnectionError",
    "RefusedRequestError",
    "ServerCapabilities",
    "ServerClient",
    "ServerError",
    "ServerIdentity",
    "ServerKind",
    "ServerReply",
    "SilentServerError",
    "UnreachableServerError",
    "UnreadableReplyError",
    "identify",
]
