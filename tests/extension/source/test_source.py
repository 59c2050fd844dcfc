"""A logit source of an extension opens by its spec and is in the menu."""

from error_keys import raises_key

from engine.cli.main import main
from engine.models import ModelError, known_models, load_model


def test_it_generates(capsys):
    options = ("--notation", "regex", "--grammar", "[0-9]{4}", "--model", "countdown", "--prompt", "8", "--greedy")
    assert main(("generate", *options)) == 0
    assert capsys.readouterr().out.strip() == "7654"


def test_the_menu_of_models_lists_it():
    assert "countdown" in {model.spec for model in known_models()}


def test_it_is_asked_before_the_hub_and_named_where_a_spec_is_unknown():
    with raises_key(ModelError, "errors.models.unknown"):
        load_model("count down")
