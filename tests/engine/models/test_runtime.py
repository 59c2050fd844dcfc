from __future__ import annotations

import os

import pytest

from engine.models.libraries import threads_for


@pytest.mark.parametrize(
    ("cores", "chosen", "parameters", "threads"),
    [
        (16, None, 1_000_000, 1),
        (2, None, 135_000_000, 1),
        (4, None, 135_000_000, 2),
        (64, None, 135_000_000, 4),
        (None, None, 135_000_000, 1),
        (2, "3", 1_000_000, 3),
        (2, "many", 1_000_000, 1),
    ],
)
def test_small_models_and_small_machines_take_one_thread(
    monkeypatch: pytest.MonkeyPatch, cores: int | None, chosen: str | None, parameters: int, threads: int
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if chosen is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", chosen)
    assert threads_for(parameters) == threads
