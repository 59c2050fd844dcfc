from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tiny_models import save_tiny_gguf

from engine.models import ModelError, checkpoint, load_model
from engine.source import CancelledError, CancelToken
from engine.source.catalogue import catalogue_text


@pytest.fixture
def folder(tiny: Path, tmp_path: Path) -> Path:
    """A copy to break."""
    return Path(shutil.copytree(tiny, tmp_path / "model"))


def configure(folder: Path, **changes: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def refusal(spec: Path | str) -> str:
    """Return the key of the error of a model that does not load; its text is one line."""
    with pytest.raises(ModelError) as caught:
        load_model(str(spec))
    assert "\n" not in str(caught.value)
    return caught.value.key


def test_a_pickle_is_refused(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    assert refusal(folder) == "errors.models.pickle"


def test_a_folder_without_weights_says_so(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    assert refusal(folder) == "errors.models.no_safetensors"


def test_a_folder_without_configuration_says_so(folder: Path) -> None:
    (folder / "config.json").unlink()
    assert refusal(folder) == "errors.models.no_config"


@pytest.mark.parametrize("keep", [0, 5, 3000])
def test_damaged_weights_say_so(folder: Path, keep: int) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:keep])
    assert refusal(folder) in ("errors.models.damaged_header", "errors.models.damaged_weights")


def test_a_broken_configuration_is_a_sentence(folder: Path) -> None:
    (folder / "config.json").write_text("{")
    assert refusal(folder) == "errors.models.config_json"


def test_a_missing_tokenizer_is_a_sentence(folder: Path) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    assert refusal(folder) == "errors.models.not_loadable"


def test_an_unknown_architecture_says_so(folder: Path) -> None:
    configure(folder, model_type="from-the-future")
    assert refusal(folder) == "errors.models.architecture"


def test_a_model_that_is_no_language_model_says_so(folder: Path) -> None:
    configure(folder, model_type="vit", architectures=["ViTModel"])
    assert refusal(folder) == "errors.models.architecture"


def test_code_of_its_own_is_not_run(folder: Path) -> None:
    (folder / "custom.py").write_text("raise SystemExit('it ran')")
    configure(folder, model_type="mine", auto_map={"AutoConfig": "custom.C", "AutoModelForCausalLM": "custom.M"})
    assert refusal(folder) == "errors.models.remote_code"


def test_a_file_of_another_kind_says_so(tmp_path: Path) -> None:
    other = tmp_path / "model.gguf"
    other.write_bytes(b"PK\3\4")
    assert refusal(other) == "errors.models.not_gguf"
    other.write_bytes(b"GGUF" + bytes(40))
    assert refusal(other) == "errors.models.damaged_gguf"


@pytest.mark.parametrize("keep", [4, 24, 1000, 0.5, -100, -1])
def test_a_gguf_file_that_is_cut_short_says_so(tmp_path: Path, keep: float) -> None:
    cut = tmp_path / "cut.gguf"
    data = save_tiny_gguf(cut).read_bytes()
    cut.write_bytes(data[: int(keep * len(data)) if keep == 0.5 else int(keep)])
    assert refusal(cut) in ("errors.models.cut_short", "errors.models.damaged_gguf")


def test_a_file_of_the_same_name_in_the_working_directory_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    here.mkdir()
    wanted = save_tiny_gguf(there / "model.gguf")
    (here / "model.gguf").write_bytes(b"PK")
    monkeypatch.chdir(here)
    assert load_model(str(wanted)).vocabulary.size > 0


def test_a_model_larger_than_the_memory_is_refused_before_it_is_read(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "available_memory", lambda: 1000)
    assert refusal(tiny) == "errors.models.too_large"


def test_a_cancelled_load_stops_at_the_next_stage(tiny: Path) -> None:
    seen: list[str] = []

    def hear(what: str, done: int, total: int | None) -> None:
        seen.append(what)
        if what == catalogue_text("sources.stage.tokenizer"):
            cancel.cancel()

    cancel = CancelToken(hear)
    with pytest.raises(CancelledError):
        load_model(str(tiny), cancel=cancel)
    assert seen[-1] == catalogue_text("sources.stage.tokenizer")
