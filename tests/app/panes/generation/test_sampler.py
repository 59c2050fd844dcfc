import pytest

from app.catalogue import ui_text
from app.panes.generation.sampler_popover import SamplerButton, details, summary
from engine.decoding.values import SamplerSettings


@pytest.fixture
def button(qtbot):
    button = SamplerButton()
    qtbot.addWidget(button)
    button.show()
    return button


def test_settings_go_through_the_fields_unchanged(qtbot, button):
    settings = SamplerSettings(1.2, 0.7, 40, 0.9, 0.05, 1234)
    with qtbot.assertNotEmitted(button.edited):
        button.show_settings(settings)
    assert button.popover.settings() == settings


def test_an_edit_is_reported(qtbot, button):
    with qtbot.waitSignal(button.edited) as edited:
        button.popover.numbers["top_k"].setValue(7)
    assert edited.args == [SamplerSettings(top_k=7)]


def test_greedy_is_temperature_0_and_gives_the_old_one_back(qtbot, button):
    button.show_settings(SamplerSettings(temperature=0.7))
    button.popover.greedy.setChecked(True)
    assert button.popover.settings().temperature == 0
    assert not button.popover.numbers["top_k"].isEnabled()
    assert button.text() == f"{ui_text('generation.sampler.summary')} ▾"
    button.popover.greedy.setChecked(False)
    assert button.popover.settings().temperature == pytest.approx(0.7)


def test_reset_goes_back_to_plain_sampling(qtbot, button):
    button.show_settings(SamplerSettings(temperature=0.3, seed=9))
    with qtbot.waitSignal(button.edited) as edited:
        button.popover.reset.click()
    assert edited.args == [SamplerSettings()]


def test_the_button_names_what_is_in_force():
    assert summary(SamplerSettings()) == text("plain", temperature=1, seed=0)
    assert summary(SamplerSettings(temperature=0.8, top_k=40, seed=7)) == text("filtered", temperature=0.8, seed=7)
    values = {"temperature": 0.8, "top_k": 40, "top_p": 0.9, "min_p": 0.1, "repetition_penalty": 1.1, "seed": 7}
    assert details(SamplerSettings(1.1, 0.8, 40, 0.9, 0.1, 7)).split(", ") == [
        ui_text(f"generation.sampler.value.fragment.{name}", value=value) for name, value in values.items()
    ]
    assert details(SamplerSettings(temperature=0, top_k=3)) == text("greedy")


def text(name, **fields):
    return ui_text(f"generation.sampler.fragment.{name}", **fields)
