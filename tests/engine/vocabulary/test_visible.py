import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.vocabulary import visible


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        (b"", ""),
        (b" the", "␣the"),
        (b"\r\n\t", "␍↵⇥"),
        (b"\0\x1b\x7f", r"\x00\x1b\x7f"),
        ("é日😀".encode(), "é日😀"),
        ("é".encode()[:1], r"\xc3"),
        ("é".encode()[1:] + b"a", r"\xa9a"),
        ("\N{NO-BREAK SPACE}".encode(), r"\u{a0}"),
        ("\N{ZERO WIDTH JOINER}x".encode(), r"\u{200d}x"),
        ("\N{COMBINING ACUTE ACCENT}".encode(), "◌\N{COMBINING ACUTE ACCENT}"),
        (b"\xed\xa0\x80", r"\xed\xa0\x80"),
    ],
)
def test_what_is_shown(token, shown):
    assert visible(token) == shown


@given(st.binary())
def test_nothing_stays_hidden(token):
    shown = visible(token)
    assert " " not in shown
    assert shown.isprintable()
    assert bool(shown) == bool(token)
