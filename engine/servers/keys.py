"""The keys of servers: from an environment variable, or from the keyring of the system, and from nowhere else.

A key is in no document, log, export or bundle: it is kept in the keyring if the user asks for it, under the address of
the server, or not at all.
"""

from __future__ import annotations

import os
from typing import Final

from engine.servers.client import ServerError, server_address

KEY_VARIABLE: Final = "TURNSTILE_SERVER_KEY"
"""The environment variable of the key of any server."""
_SERVICE: Final = "turnstile"


def key_of(address: str, *, variable: str = KEY_VARIABLE) -> str:
    """Return the key of a server: that of the environment variable, else that of the keyring, else an empty text.

    A system without a keyring has no keys.

    Args:
        address: the address of the server.
        variable: the name of the environment variable.

    Raises:
        ServerError: the address is not one of HTTP.
    """
    if key := os.environ.get(variable, ""):
        return key
    import keyring  # looks for the keyring of the system: only for those who ask a server
    from keyring.errors import KeyringError

    try:
        return keyring.get_password(_SERVICE, server_address(address)) or ""
    except KeyringError:
        return ""


def keep_key(address: str, key: str) -> None:
    """Keep a key in the keyring of the system; an empty one is removed from there.

    Raises:
        ServerError: the system has no keyring, or it is locked; or the address is not one of HTTP.
    """
    import keyring
    from keyring.errors import KeyringError, PasswordDeleteError

    try:
        if key:
            keyring.set_password(_SERVICE, server_address(address), key)
        else:
            keyring.delete_password(_SERVICE, server_address(address))
    except PasswordDeleteError:
        return  # there is none
    except KeyringError as error:
        raise ServerError("errors.servers.keyring", reason=type(error).__name__, variable=KEY_VARIABLE) from error
