"""Code points and UTF-16 units, against Python's own encoder."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.panes.editor.offsets import Offsets

texts = st.text(alphabet=st.sampled_from("aé日😀𝒳\n"), max_size=12)


@given(texts)
def test_to_utf16_counts_as_the_encoder_does(text: str) -> None:
    offsets = Offsets(text)
    for offset in range(len(text) + 1):
        assert offsets.to_utf16(offset) == len(text[:offset].encode("utf-16-le")) // 2


@given(texts)
def test_there_and_back_is_the_same_place(text: str) -> None:
    offsets = Offsets(text)
    assert [offsets.to_code_points(offsets.to_utf16(i)) for i in range(len(text) + 1)] == list(range(len(text) + 1))


def test_between_two_surrogates_is_their_character() -> None:
    assert Offsets("a😀b").to_code_points(2) == 1


def test_beyond_the_text_is_its_end() -> None:
    assert Offsets("😀").to_utf16(7) == 2
    assert Offsets("😀").to_code_points(7) == 1
