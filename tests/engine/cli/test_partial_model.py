"""`turnstile generate` with a source that returns a part of its distribution."""

from __future__ import annotations

import json

import pytest
from catalogue_texts import shows
from partial_source import DrawingSource, PartialSource
from random_model import RandomModel

from engine import models
from engine.cli.main import main

GENERATE = ("generate", "--notation", "regex", "--grammar", r"[A-Z]+: [a-z]+\n", "--model", "any", "--max-tokens", "6")


@pytest.fixture
def source(monkeypatch, request):
    source = request.param(RandomModel(), listed=3)
    monkeypatch.setattr(models, "load_model", lambda _spec, *, cancel: source)
    return source


@pytest.mark.parametrize("source", [DrawingSource], indirect=True)
def test_unknown_numbers_are_null_and_the_allowed_mass_has_bounds(source, capsys):
    main((*GENERATE, "--json"))
    steps = json.loads(capsys.readouterr().out)["steps"]
    drawn = [step for step in steps if step["origin"] == "source"]
    assert drawn
    for step in drawn:
        assert step["z"] is None
        assert step["p_masked"] is None
        assert 0 <= step["z_low"] <= step["z_high"] <= 1
    assert all("z_low" not in step for step in steps if step["z"] is not None)


@pytest.mark.parametrize("source", [PartialSource], indirect=True)
def test_a_step_that_cannot_be_drawn_is_one_line(source, capsys):
    assert main(GENERATE) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert shows(err, "errors.decoding.partial.draw", name="random", known=3, size=source.width)
    assert err.count("\n") == 1
