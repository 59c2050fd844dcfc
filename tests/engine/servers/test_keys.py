"""The keys of servers: from the environment or the keyring, which is one in memory here."""

from __future__ import annotations

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import NoKeyringError, PasswordDeleteError

from engine.servers import ServerError
from engine.servers.keys import KEY_VARIABLE, keep_key, key_of

ADDRESS = "http://127.0.0.1:8080"


class MemoryKeyring(KeyringBackend):
    priority = 1

    def __init__(self):
        self.kept = {}

    def get_password(self, service, username):
        return self.kept.get((service, username))

    def set_password(self, service, username, password):
        self.kept[service, username] = password

    def delete_password(self, service, username):
        if self.kept.pop((service, username), None) is None:
            raise PasswordDeleteError


class NoKeyring(MemoryKeyring):
    def get_password(self, service, username):
        raise NoKeyringError

    def set_password(self, service, username, password):
        raise NoKeyringError


@pytest.fixture(autouse=True)
def no_keyring(monkeypatch):
    """Set a system without a keyring, and restore the real one, which no test reads."""
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    before = keyring.get_keyring()
    keyring.set_keyring(NoKeyring())
    yield
    keyring.set_keyring(before)


@pytest.fixture
def kept():
    backend = MemoryKeyring()
    keyring.set_keyring(backend)
    return backend.kept


def test_a_key_is_kept_by_the_address_of_the_server(kept):
    keep_key(f"{ADDRESS}/v1/models", "secret")
    assert key_of(ADDRESS) == "secret"
    assert key_of("http://127.0.0.1:8081") == ""
    keep_key(ADDRESS, "")
    keep_key(ADDRESS, "")
    assert (key_of(ADDRESS), kept) == ("", {})


def test_the_environment_comes_first(kept, monkeypatch):
    keep_key(ADDRESS, "secret")
    monkeypatch.setenv(KEY_VARIABLE, "other")
    monkeypatch.setenv("MINE", "mine")
    assert key_of(ADDRESS) == "other"
    assert key_of(ADDRESS, variable="MINE") == "mine"


def test_without_a_keyring_there_is_no_key_and_none_can_be_kept():
    assert key_of(ADDRESS) == ""
    with pytest.raises(ServerError) as error:
        keep_key(ADDRESS, "secret")
    assert error.value.key == "errors.servers.keyring"
