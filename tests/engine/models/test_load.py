from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engine.models import ModelError, hub, known_models, load_model
from engine.models.downloads import ChildResult
from engine.source import CancelledError, CancelToken


def test_the_room_is_light() -> None:
    heavy = "{'torch', 'transformers', 'numba', 'huggingface_hub', 'tokenizers'}"
    code = f"import sys, engine.models; engine.models.known_models(); print({heavy} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


@pytest.mark.parametrize("spec", ["", "shakespear", "/no/such/folder", "a/b/c", "./a", "model.gguf"])
def test_an_unknown_name_lists_what_can_be_given(spec: str) -> None:
    with pytest.raises(ModelError, match=r"there is no model .*shakespeare, records, smollm2, .*, the path of"):
        load_model(spec)


def test_a_cancelled_token_stops_at_once() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        load_model("records", cancel=cancel)


def test_an_unreachable_hub_says_what_to_do() -> None:
    with pytest.raises(ModelError, match="Hub cannot be reached and nobody/nothing is not in its local cache"):
        load_model("nobody/nothing")


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("huggingface_hub.errors.GatedRepoError: 403", "is gated: accept its terms"),
        ("huggingface_hub.errors.RepositoryNotFoundError: 404", "the Hub has no model “a/b”"),
        ("OSError: [Errno 28] No space left on device", "the disk is full"),
        ("Traceback\nValueError: odd", r"could not be fetched \(ValueError: odd\)"),
    ],
)
def test_what_the_hub_answers_is_a_sentence(monkeypatch: pytest.MonkeyPatch, output: str, message: str) -> None:
    monkeypatch.setattr(hub, "run_child", lambda *_: ChildResult(1, output))
    with pytest.raises(ModelError, match=message):
        load_model("a/b")


def test_a_hub_model_without_safetensors_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "run_child", lambda *_: ChildResult(0, ""))
    with pytest.raises(ModelError, match="has no weights in safetensors"):
        load_model("a/b")


def test_what_the_hubs_cache_holds_needs_no_network(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "cached_folder", lambda _: tiny)
    assert load_model("a/b").name == "a/b"


def test_the_menu_names_what_load_model_takes() -> None:
    models = {model.spec: model for model in known_models()}
    assert list(models) == ["shakespeare", "records", "smollm2"]
    assert models["shakespeare"].available_offline
    assert models["records"].available_offline
    assert not models["smollm2"].available_offline  # the cache of this test is empty
    assert all(model.size_bytes > 0 and model.title and model.description for model in models.values())
