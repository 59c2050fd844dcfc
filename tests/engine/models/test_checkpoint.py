from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tiny_models import save_tiny_gguf

from engine.models import ModelError, checkpoint, load_model
from engine.source import CancelledError, CancelToken


@pytest.fixture
def folder(tiny: Path, tmp_path: Path) -> Path:
    """A copy to break."""
    return Path(shutil.copytree(tiny, tmp_path / "model"))


def configure(folder: Path, **changes: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def refusal(spec: Path | str) -> str:
    with pytest.raises(ModelError) as caught:
        load_model(str(spec))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_pickle_is_refused(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    assert "only as a pickle (.bin)" in refusal(folder)


def test_a_folder_without_weights_says_so(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    assert "has no .safetensors file" in refusal(folder)


def test_a_folder_without_configuration_says_so(folder: Path) -> None:
    (folder / "config.json").unlink()
    assert "has no config.json" in refusal(folder)


@pytest.mark.parametrize("keep", [0, 5, 3000])
def test_damaged_weights_say_so(folder: Path, keep: int) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:keep])
    assert "are damaged or incomplete" in refusal(folder)


def test_a_broken_configuration_is_a_sentence(folder: Path) -> None:
    (folder / "config.json").write_text("{")
    assert "config.json is not valid JSON" in refusal(folder)


def test_a_missing_tokenizer_is_a_sentence(folder: Path) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    assert "cannot be loaded" in refusal(folder)


def test_an_unknown_architecture_says_so(folder: Path) -> None:
    configure(folder, model_type="from-the-future")
    assert "does not know the architecture" in refusal(folder)


def test_a_model_that_is_no_language_model_says_so(folder: Path) -> None:
    configure(folder, model_type="vit", architectures=["ViTModel"])
    assert "does not know the architecture" in refusal(folder)


def test_code_of_its_own_is_not_run(folder: Path) -> None:
    (folder / "custom.py").write_text("raise SystemExit('it ran')")
    configure(folder, model_type="mine", auto_map={"AutoConfig": "custom.C", "AutoModelForCausalLM": "custom.M"})
    assert "needs its own Python code" in refusal(folder)


def test_a_file_of_another_kind_says_so(tmp_path: Path) -> None:
    other = tmp_path / "model.gguf"
    other.write_bytes(b"PK\3\4")
    assert "is not a GGUF file" in refusal(other)
    other.write_bytes(b"GGUF" + bytes(40))
    assert "version 0 of GGUF" in refusal(other)


@pytest.mark.parametrize("keep", [4, 24, 1000, 0.5, -100, -1])
def test_a_gguf_file_that_is_cut_short_says_so(tmp_path: Path, keep: float) -> None:
    cut = tmp_path / "cut.gguf"
    data = save_tiny_gguf(cut).read_bytes()
    cut.write_bytes(data[: int(keep * len(data)) if keep == 0.5 else int(keep)])
    assert "cut.gguf is damaged, or cut short" in refusal(cut)


def test_a_model_larger_than_the_memory_is_refused_before_it_is_read(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "available_memory", lambda: 1000)
    assert "GB are free" in refusal(tiny)


def test_a_cancelled_load_stops_at_the_next_stage(tiny: Path) -> None:
    seen: list[str] = []

    def hear(what: str, done: int, total: int | None) -> None:
        seen.append(what)
        if what == "reading the tokenizer":
            cancel.cancel()

    cancel = CancelToken(hear)
    with pytest.raises(CancelledError):
        load_model(str(tiny), cancel=cancel)
    assert seen[-1] == "reading the tokenizer"
