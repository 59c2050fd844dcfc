"""The keys of servers: typed by the user, from an environment variable, or from the keyring of the system.

A key is in no document, log, export or bundle. One that was typed stays in the memory of this process; it is kept in
the keyring if the user asks for it, under the address of the server.
"""

from __future__ import annotations

import os
from typing import Final

from engine.servers.client import ServerError, server_address

KEY_VARIABLE: Final = "TURNSTILE_SERVER_KEY"
"""The environment variable of the key of any server."""
_SERVICE: Final = "turnstile"
_typed: dict[str, str] = {}


def remember_key(address: str, key: str) -> None:
    """Remember a key that the user typed, while this process runs; an empty one is forgotten.

    Raises:
        ServerError: the address is not one of HTTP.
    """
    if key:
        _typed[server_address(address)] = key
    else:
        _typed.pop(server_address(address), None)


def remembered_key(address: str) -> str:
    """Return the key that was remembered for a server; empty if none was, or if the address is not one of HTTP."""
    try:
        return _typed.get(server_address(address), "")
    except ServerError:
        return ""


def key_of(address: str, *, variable: str = KEY_VARIABLE) -> str:
    """Return the key of a server: a remembered one, else that of the environment variable or of the keyring; or "".

    A system without a keyring has no keys.

    Args:
        address: the address of the server.
        variable: the name of the environment variable.

    Raises:
        ServerError: the address is not one of HTTP.
    """
    return remembered_key(address) or os.environ.get(variable, "") or kept_key(address)


def kept_key(address: str) -> str:
    """Return the key of a server that the keyring has; empty if there is none, or no keyring.

    Raises:
        ServerError: the address is not one of HTTP.
    """
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
