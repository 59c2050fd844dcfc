import pytest

from app.catalogue import ui_text
from app.panes.generation.processors_format import (
    UnreadableError,
    budget_line,
    read,
    read_bias,
    read_suppressed,
    read_table,
    stage_values,
    summary,
    written,
    written_bias,
    written_suppressed,
    written_table,
)
from engine.decoding.pipeline_settings import Afterwards, PipelineSettings, TableSettings, ZoneSettings
from engine.decoding.values import BudgetState

TEXTS = ["e", " ", "  a b ", "\n", "a\tb\r", "\\n", "#12", "\\#1", "</think>", "é\\", " #"]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_read_as_it_was_written(text):
    assert read(written(text)) == text
    assert written(text) == written(text).strip(" ")


def test_texts_and_tokens_are_distinguished():
    settings = PipelineSettings(suppress=tuple(TEXTS), suppress_ids=(0, 12))
    assert read_suppressed(written_suppressed(settings)) == (settings.suppress, settings.suppress_ids)
    assert read_suppressed("e\n\n  #7 \n") == (("e",), (7,))


def test_biases_are_read_as_they_were_written():
    settings = PipelineSettings(bias=(("the", 2.0), (" a=b ", -1.5), ("#50", 0.25)))
    assert read_bias(written_bias(settings)) == settings.bias


def test_a_table_is_read_as_it_was_written():
    table = TableSettings(((1, 1, 2), (2, 2, 3), (3, 0, 1)), initial=2)
    assert read_table(written_table(table), 2) == table
    assert read_table("1, #42, 2", 1).transitions == ((1, 42, 2),)


def unreadable(name, **fields):
    return ui_text(f"generation.unreadable.fragment.{name}", **fields)


def read_table_from_1(typed):
    return read_table(typed, 1)


@pytest.mark.parametrize(
    ("reader", "typed", "message"),
    [
        (read, "a\\q", unreadable("escape", text=r"\q")),
        (read, "a\\", unreadable("escape", text="\\")),
        (read_suppressed, "a\n\\x", unreadable("line", number=2, reason=unreadable("escape", text=r"\x"))),
        (read_bias, "the +2", unreadable("line", number=1, reason=unreadable("bias"))),
        (read_bias, "the = much", unreadable("line", number=1, reason=unreadable("bias"))),
        (read_bias, "a = 1\n = 2", unreadable("line", number=2, reason=unreadable("bias"))),
        (read_bias, "a = 1\na = 2", unreadable("line", number=2, reason=unreadable("twice", text="a"))),
        (read_bias, "\\#5 = 1", unreadable("line", number=1, reason=unreadable("token", text="#5"))),
        (read_table_from_1, "1 2 3\n1 x 2", unreadable("line", number=2, reason=unreadable("transition"))),
    ],
)
def test_an_unreadable_input_is_an_error_with_its_line(reader, typed, message):
    with pytest.raises(UnreadableError) as caught:
        reader(typed)
    assert str(caught.value) == message


def test_the_summary_says_what_is_on_in_the_order_of_the_stages():
    assert summary(PipelineSettings()) == ""
    on = PipelineSettings(zones=ZoneSettings(after="</think>"), budget=True, suppress=("e",))
    after = ui_text("generation.zone.fragment.after", text="</think>")
    assert summary(on) == f"{after} · {short('budget')} · {fragment('suppress', value='e')}"
    zones = ZoneSettings(after_token="<think>", until="\n", then=Afterwards.AGAIN)
    turned = PipelineSettings(order=("suppress",), zones=zones, suppress=("e",), bias=(("the", 2.0),))
    after = ui_text("generation.zone.fragment.after", text="<think>")
    until = ui_text("generation.zone.fragment.until", text="\\n")
    zone = f"{after}, {until}, {ui_text('generation.zone.fragment.again')}"
    parts = fragment("suppress", value="e"), zone, short("bias", value="the +2"), fragment("custom_order")
    assert summary(turned) == " · ".join(parts)


def test_many_texts_are_counted():
    many = PipelineSettings(suppress=("a", "b", "c"), suppress_ids=(5,), bias=(("the", 2.0), ("a", 1.0)))
    values = stage_values(many)
    assert values["suppress"] == fragment("suppress", value=fragment("texts", total=4))
    assert values["bias"] == fragment("texts", total=2)
    table = PipelineSettings(table=TableSettings(((1, 1, 1),), 1), static="LOWER", pattern="UPPER+")
    transitions = ui_text("common.count.transitions", count=1)
    assert list(stage_values(table).values()) == ["LOWER", "UPPER+", transitions]
    assert short("table", value=transitions) in summary(table)


def short(stage, **fields):
    return ui_text(f"generation.stage.{stage}.fragment.summary", **fields)


def fragment(name, **fields):
    return ui_text(f"generation.processors.fragment.{name}", **fields)


def test_the_budget_says_whether_it_is_exact():
    assert budget_line(BudgetState(9, 4, 4, is_exact=True)) == text("exactly", left=9, least=4)
    between, at_least = text("between", left=9, least=4, most=8), text("at_least", left=9, least=4)
    assert budget_line(BudgetState(9, 4, 8, is_exact=False)) == text("estimate", budget=between)
    assert budget_line(BudgetState(9, 4, None, is_exact=False)) == text("estimate", budget=at_least)
    assert budget_line(BudgetState(9, None, None, is_exact=True)) == text("no_ending", left=9)


def text(name, **fields):
    return ui_text(f"generation.budget.{name}", **fields)
