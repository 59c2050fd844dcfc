from __future__ import annotations

from pathlib import Path

import pytest
from tiny_models import TEMPLATE, save_tiny


@pytest.fixture(autouse=True)
def own_cache(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test but one that says so sees or changes what the user has fetched."""
    if "user_cache" not in request.fixturenames:
        monkeypatch.setenv("TURNSTILE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def user_cache() -> None:
    """The test reads the user's own cache."""


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model without special tokens."""
    return save_tiny(tmp_path_factory.mktemp("tiny") / "plain")


@pytest.fixture(scope="session")
def tiny_chat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model with BOS, EOS and a chat template."""
    return save_tiny(tmp_path_factory.mktemp("tiny") / "chat", special=True, template=TEMPLATE)
