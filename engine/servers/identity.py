"""What a server is, what it can do, and how that is found out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, Protocol

from engine.servers.client import RefusedRequestError, ServerClient, ServerError, UnreadableReplyError
from engine.source.registry import OTHERS, Registry

IDENTIFY_TIMEOUT_S: Final = 5.0
"""The seconds for each request by which the kind of a server is found out."""


class Distribution(StrEnum):
    """The part of a next-token distribution that a server returns."""

    FULL = "full"
    TOP = "top"
    NONE = "none"


class MaskOrder(StrEnum):
    """Whether returned probabilities are those before or after the mask."""

    BEFORE = "before"
    AFTER = "after"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ServerCapabilities:
    """What a server can do; None where it is not known.

    Attributes:
        distribution: the part of a distribution that it returns.
        most_listed: the most tokens that it lists at a step; None for no limit, or if there are none.
        order: whether these probabilities are before or after the mask.
        gives_ids: it returns token ids.
        gives_bytes: it returns the bytes of a token.
        reads_ids: a prompt may be token ids.
        takes_mask: a request may name the allowed tokens.
        shows_mask: its own mask can be read.
        most_priced: the number of named tokens whose probabilities one request can ask for; 0 for none.
        applies_template: it makes a prompt from messages.
    """

    distribution: Distribution
    most_listed: int | None
    order: MaskOrder
    gives_ids: bool | None
    gives_bytes: bool | None
    reads_ids: bool | None
    takes_mask: bool | None
    shows_mask: bool | None
    most_priced: int = 0
    applies_template: bool | None = None


@dataclass(frozen=True, slots=True)
class ServerIdentity:
    """A server, as far as it describes itself.

    Attributes:
        kind: the name of its kind in `KINDS`.
        version: its version; empty if it does not say.
        model: the model that requests name; empty if it lists none.
        models: all models that it lists.
        capabilities: what it can do.
        context_length: the number of tokens that its context has; None if it does not say.
        chat_template: its template; None if it does not say.
        model_path: the file or folder of the model on the machine of the server; empty if it does not say.
        vocabulary_size: the number of token ids; None if it does not say.
        weights: what else it says of the weights, such as their size: a text that another model rarely has.
    """

    kind: str
    version: str
    model: str
    models: tuple[str, ...]
    capabilities: ServerCapabilities
    context_length: int | None = None
    chat_template: str | None = None
    model_path: str = ""
    vocabulary_size: int | None = None
    weights: str = ""

    def serves_same_model(self, other: ServerIdentity) -> bool:
        """Return whether a server says the same of its model as when it was asked before; a version may differ."""
        return replace(self, version="", models=()) == replace(other, version="", models=())


class ServerKind(Protocol):
    """A kind of server. A module under `kinds` has one such object, named `SERVER`.

    Attributes:
        title: its name for users.
    """

    @property
    def title(self) -> str: ...  # noqa: D102 - see the attribute above

    def identify(self, client: ServerClient) -> ServerIdentity | None:
        """Return what a server says of itself; None if it is of another kind.

        Raises:
            ServerError: it cannot be asked.
        """
        ...


KINDS: Final = Registry[ServerKind](
    "engine.servers.kinds", "SERVER", order=("llama-server", "vllm", "sglang", "ollama", OTHERS, "openai")
)
"""The kinds of servers, in the order in which they are tried: the general one is the last."""


def identify(client: ServerClient, model: str = "") -> ServerIdentity:
    """Find out what a server is by asking it; each request has a short limit of time.

    Args:
        client: the server.
        model: the model that requests name; by default the first that the server lists.

    Raises:
        ServerError: it cannot be reached, wants a key, or is of no known kind.
        CancelledError: the work was cancelled.
    """
    for kind in KINDS:
        identity = kind.identify(client)
        if identity is None:
            continue
        if model and identity.models and model not in identity.models:
            raise ServerError("errors.servers.no_such_model", model=model, models=", ".join(identity.models[:10]))
        return replace(identity, model=model) if model else identity
    raise ServerError("errors.servers.unknown", address=client.address)


def answer_of(client: ServerClient, path: str) -> object:
    """Return the JSON data of a path; None if the server has no such route, or answers with something else.

    Raises:
        ServerError: the server cannot be reached, does not answer, or wants a key.
    """
    try:
        return client.get(path, timeout=IDENTIFY_TIMEOUT_S)
    except UnreadableReplyError:
        return None
    except RefusedRequestError as error:
        if error.status in (401, 403, 429) or error.status >= 500:
            raise
        return None


def listed_models(client: ServerClient) -> tuple[dict[str, object], ...]:
    """Return the entries of OpenAI's list of models; none if the server has no such list."""
    listed = answer_of(client, f"{client.openai_path}/models")
    data = listed.get("data") if isinstance(listed, dict) else None
    return tuple(one for one in data if isinstance(one, dict) and one.get("id")) if isinstance(data, list) else ()
