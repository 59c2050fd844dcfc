from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from error_keys import raises_key

from engine.models import ModelError, hub, known_models, load_model, model_files
from engine.models.downloads import ChildResult
from engine.source import CancelledError, CancelToken


def test_the_room_is_light() -> None:
    heavy = "{'torch', 'transformers', 'numba', 'huggingface_hub', 'tokenizers'}"
    code = f"import sys, engine.models; engine.models.known_models(); print({heavy} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


@pytest.mark.parametrize("spec", ["", "shakespear", "/no/such/folder", "a/b/c", "./a", "model.gguf"])
def test_an_unknown_name_lists_what_can_be_given(spec: str) -> None:
    with pytest.raises(ModelError, match="shakespeare, records, smollm2, ") as caught:
        load_model(spec)
    assert caught.value.key == "errors.models.unknown"


def test_a_cancelled_token_stops_at_once() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        load_model("records", cancel=cancel)


def test_an_unreachable_hub_says_what_to_do() -> None:
    with raises_key(ModelError, "errors.models.hub_unreachable", repository="nobody/nothing"):
        load_model("nobody/nothing")


@pytest.mark.parametrize(
    ("output", "key"),
    [
        ("huggingface_hub.errors.GatedRepoError: 403", "errors.models.gated"),
        ("huggingface_hub.errors.RepositoryNotFoundError: 404", "errors.models.not_on_hub"),
        ("OSError: [Errno 28] No space left on device", "errors.models.full_disk"),
        ("Traceback\nValueError: odd", "errors.models.not_fetched"),
    ],
)
def test_what_the_hub_answers_is_a_sentence(monkeypatch: pytest.MonkeyPatch, output: str, key: str) -> None:
    monkeypatch.setattr(hub, "run_child", lambda *_: ChildResult(1, output))
    with raises_key(ModelError, key, repository="a/b"):
        load_model("a/b")


def test_a_hub_model_without_safetensors_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "run_child", lambda *_: ChildResult(0, ""))
    with raises_key(ModelError, "errors.models.hub_no_weights"):
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


def test_the_files_of_a_model_are_found_without_loading_it(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    records = model_files("records")
    assert records is not None
    assert (records / "tokenizer.json").is_file()
    assert model_files(str(tmp_path)) == tmp_path
    assert model_files(f"uniform:{tmp_path / 'tokenizer.json'}") == tmp_path / "tokenizer.json"
    assert model_files(str(tmp_path / "model.gguf")) is None
    assert model_files("no model") is None
