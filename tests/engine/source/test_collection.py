"""The collector of garbage is suspended and enabled again, and what other code froze stays frozen."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from engine.source.collection import no_collection

MANY = 50_000


@pytest.fixture
def nothing_frozen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("engine.source.collection.OtherCode.freezes", False)
    gc.unfreeze()
    yield
    gc.collect()
    gc.freeze()


def test_it_is_off_inside_and_on_again_after() -> None:
    assert gc.isenabled()
    with no_collection():
        assert not gc.isenabled()
        with no_collection():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_stays_off_where_it_was_off() -> None:
    gc.disable()
    try:
        with no_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.usefixtures("nothing_frozen")
def test_many_new_objects_are_not_scanned_as_young_ones() -> None:
    with no_collection():
        built = [[] for _ in range(MANY)]
        assert gc.get_count()[0] >= MANY
    assert gc.get_count()[0] < MANY
    assert gc.get_freeze_count() == 0
    assert len(gc.get_objects(generation=2)) >= len(built)


@pytest.mark.usefixtures("nothing_frozen")
def test_what_other_code_froze_stays_frozen() -> None:
    frozen: list[object] = []
    gc.freeze()
    with no_collection():
        built = [[] for _ in range(MANY)]
    # Not the number of frozen objects: those that other threads give up meanwhile leave it.
    assert not any(seen is frozen for seen in gc.get_objects())
    assert any(seen is built for seen in gc.get_objects())


def test_a_small_build_counts_what_is_frozen_only_until_there_was_any(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = []
    monkeypatch.setattr(gc, "get_freeze_count", lambda: counted.append(1) or 1)
    monkeypatch.setattr("engine.source.collection.OtherCode.freezes", False)
    for _ in range(3):
        with no_collection():
            built = [[] for _ in range(100)]
    assert (len(counted), len(built)) == (1, 100)
