"""The text that names a server, its model, and a tokenizer for it: `http://HOST:PORT#MODEL&tokenizer=PATH`.

Only the address is required. It has no key: a spec is stored in documents and shown in messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

from engine.servers.client import is_remote, server_address

_TOKENIZER: Final = "&tokenizer="
_PLAIN: Final = "/:@+,~"


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """A server, as a user names it.

    Attributes:
        address: the address of the server; see `server_address`.
        model: the model that requests name; empty for the first that the server lists.
        tokenizer: the file or folder of a tokenizer on this machine, or a Hub id; empty for the server's own.
    """

    address: str
    model: str = ""
    tokenizer: str = ""

    @classmethod
    def read(cls, text: str) -> ServerSpec:
        """Read a spec.

        Raises:
            ServerError: the address is not one of HTTP, or contains a password or a query.
        """
        address, _, rest = text.strip().partition("#")
        model, _, tokenizer = rest.partition(_TOKENIZER)
        return cls(server_address(address), unquote(model), unquote(tokenizer))

    @property
    def is_remote(self) -> bool:
        """Return whether texts that are sent to the server leave this machine."""
        return is_remote(self.address)

    def __str__(self) -> str:
        tokenizer = f"{_TOKENIZER}{quote(self.tokenizer, safe=_PLAIN)}" if self.tokenizer else ""
        rest = f"{quote(self.model, safe=_PLAIN)}{tokenizer}"
        return f"{self.address}#{rest}" if rest else self.address
