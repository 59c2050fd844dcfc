"""Damaged headers of model files are refused before a library allocates or loops for what they promise."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from damaged_files import EXAMPLES, damaged_bytes, damaged_json
from error_keys import raises_key
from tiny_models import save_tiny_gguf

from engine.models import ModelError, load_model
from engine.models.headers import check_folder, check_gguf


@pytest.fixture(scope="module")
def gguf_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_gguf(tmp_path_factory.mktemp("gguf") / "model.gguf")


def test_a_whole_file_passes(gguf_file: Path) -> None:
    check_gguf(gguf_file)


def test_a_damaged_gguf_header_passes_or_is_refused(gguf_file: Path, tmp_path: Path) -> None:
    data, file = gguf_file.read_bytes(), tmp_path / "damaged.gguf"
    passed = 0
    for seed in range(EXAMPLES):
        file.write_bytes(b"GGUF" + (damaged_bytes(data, Random(seed), 12_000)[4:] or b"\0"))
        with suppress(ModelError):
            check_gguf(file)
            passed += 1
    assert 0 < passed < EXAMPLES


def test_what_passes_is_loaded_or_refused_with_a_sentence(gguf_file: Path, tmp_path: Path) -> None:
    data, file = gguf_file.read_bytes(), tmp_path / "damaged.gguf"
    for seed in range(max(6, EXAMPLES // 50)):
        file.write_bytes(b"GGUF" + (damaged_bytes(data, Random(seed), 12_000)[4:] or b"\0"))
        with suppress(ModelError):
            load_model(str(file))


@pytest.mark.parametrize("at", [8, 16])
def test_a_count_of_more_than_the_file_holds_is_refused(gguf_file: Path, tmp_path: Path, at: int) -> None:
    data = bytearray(gguf_file.read_bytes())
    data[at : at + 8] = (1 << 60).to_bytes(8, "little")
    file = tmp_path / "count.gguf"
    file.write_bytes(data)
    with raises_key(ModelError, "errors.models.damaged_gguf"):
        load_model(str(file))


def test_an_endless_array_is_refused(tmp_path: Path) -> None:
    key = b"general.name"
    array = (9).to_bytes(4, "little") + (4).to_bytes(4, "little") + (1 << 60).to_bytes(8, "little")
    header = (3).to_bytes(4, "little") + (0).to_bytes(8, "little") + (1).to_bytes(8, "little")
    file = tmp_path / "array.gguf"
    file.write_bytes(b"GGUF" + header + len(key).to_bytes(8, "little") + key + array)
    with raises_key(ModelError, "errors.models.damaged_gguf"):
        load_model(str(file))


@pytest.fixture
def folder(tiny: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny, tmp_path / "model"))


@pytest.mark.parametrize(
    ("name", "value"),
    [("num_hidden_layers", 10**6), ("hidden_size", 10**9), ("vocab_size", 2**31), ("intermediate_size", 10**8)],
)
def test_a_configuration_larger_than_its_weights_is_refused(folder: Path, name: str, value: int) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), name: value}))
    with pytest.raises(ModelError) as caught:
        load_model(str(folder))
    assert caught.value.key.startswith("errors.models.mismatch.")


def test_a_damaged_configuration_passes_or_is_refused(folder: Path) -> None:
    path, files = folder / "config.json", [folder / "model.safetensors"]
    document = json.loads(path.read_text())
    for seed in range(EXAMPLES):
        path.write_text(damaged_json(document, Random(seed)))
        with suppress(ModelError):
            check_folder(folder, files)


def test_a_damaged_safetensors_header_passes_or_is_refused(folder: Path) -> None:
    weights = folder / "model.safetensors"
    data = weights.read_bytes()
    for seed in range(EXAMPLES):
        weights.write_bytes(damaged_bytes(data, Random(seed), 600))
        with suppress(ModelError):
            check_folder(folder, [weights])


def test_a_damaged_tokenizer_is_refused_before_a_library_reads_it(folder: Path) -> None:
    path = folder / "tokenizer.json"
    document = json.loads(path.read_text())
    document["model"]["vocab"]["far"] = 2_147_483_648
    path.write_text(json.dumps(document))
    with raises_key(ModelError, "errors.vocabulary.file.wrong_type", where="/model/vocab/far"):
        load_model(str(folder))


@pytest.mark.parametrize("name", ["tokenizer", "tokenizer_config", "generation_config", "config"])
def test_a_damaged_folder_is_loaded_or_refused_with_a_sentence(folder: Path, name: str) -> None:
    path = folder / f"{name}.json"
    document = json.loads(path.read_text())
    for seed in range(max(6, EXAMPLES // 30)):
        path.write_text(damaged_json(document, Random(seed)))
        with suppress(ModelError):
            load_model(str(folder)).encode("abc")


def test_an_absurd_number_of_labels_is_refused(folder: Path) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "num_labels": 10**12}))
    with raises_key(ModelError, "errors.models.mismatch.labels", found=100000):
        load_model(str(folder))


@pytest.mark.parametrize("key", [b"llama.block_count", b"llama.feed_forward_length", b"llama.embedding_length"])
def test_a_gguf_shape_larger_than_its_file_is_refused(gguf_file: Path, tmp_path: Path, key: bytes) -> None:
    data = bytearray(gguf_file.read_bytes())
    at = data.index(key) + len(key) + 4
    data[at : at + 4] = (10**9).to_bytes(4, "little")
    file = tmp_path / "shape.gguf"
    file.write_bytes(data)
    with raises_key(ModelError, "errors.models.damaged_gguf"):
        load_model(str(file))


def test_a_model_that_cannot_compute_says_so(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = load_model(str(tiny))

    def fail(**_: object) -> None:
        raise RuntimeError("invalid shape")

    monkeypatch.setattr(source, "model", fail)
    with raises_key(ModelError, "errors.models.computing", type="RuntimeError", reason="invalid shape"):
        source.logits([1])
