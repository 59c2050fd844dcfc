import json

import pytest

from engine.source.json_scanner import (
    JsonScanner,
    added_properties,
    is_in_character,
    is_in_escape,
    is_in_string,
    open_path,
)


@pytest.mark.parametrize(
    ("ending", "names"),
    [
        (b',"age":0}', ("age",)),
        (b',"a":{"b":1},"c":[{"d":2}]}', ("a", "c")),
        (b"}", ()),
        (b']},"a":1}', ()),  # another object is open
        (b',"\\u0061":1}', ("a",)),
    ],
)
def test_the_properties_that_an_ending_adds(ending, names):
    assert added_properties(ending) == names


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (b"", ()),
        (b'{"a": ', ("a",)),
        (b'{"a": 1, "b": [1, {"c": ', ("b", 1, "c")),
        (b'{"a": [1, 2], ', ()),
        (b'[[1], "x, {", ', (2,)),
    ],
)
def test_where_a_text_ends(text, path):
    assert open_path(text) == path


def test_where_a_text_is_cut():
    text = json.dumps({"a": 'quote " slash \\ é'}).encode()
    inside = [length for length in range(len(text) + 1) if is_in_string(text[:length])]
    # The stupid way: a text in a string is closed by a quotation mark, when no escape is open.
    for length in range(len(text) + 1):
        before = text[:length].replace(b"\\\\", b"..").replace(b'\\"', b"..")
        assert (before.count(b'"') % 2 == 1) == (length in inside) or text[length - 1 : length] == b"\\"
    assert is_in_escape(b'{"a": "x\\')
    assert is_in_escape(b'{"a": "x\\u00')
    assert not is_in_escape(b'{"a": "x\\\\')
    assert not is_in_escape(b'{"a": "x\\u00e9')
    assert not is_in_escape(b"\\")


def test_a_cut_character():
    data = "aé日😀".encode()
    boundaries = {len("aé日😀"[:length].encode()) for length in range(5)}
    for length in range(len(data) + 1):
        assert is_in_character(data[:length]) == (length not in boundaries)


def paths(text: str):
    """After each byte: the values that read it and those that are open."""
    scanner = JsonScanner()
    return [scanner.take(byte) for byte in text.encode()]


def test_values_open_and_close():
    moments = paths('{"a": [1, "x"]}')
    begun = list(dict.fromkeys(path for moment in moments for path in moment.read))
    assert begun == [(), ("a",), ("a", 0), ("a", 1)]
    assert moments[0].open == ((),)
    assert moments[7].open == ((), ("a",), ("a", 0))
    assert moments[8].open == ((), ("a",))
    assert moments[-1].read == ((),)
    assert moments[-1].open == ()


@pytest.mark.parametrize(
    "text",
    [
        '{"a\\"b": {"": [[], {}, null]}, "c": -1.5e3}',
        ' [ true , "\\\\" , {"k" : false} ] ',
        '"a"',
        "12",
        '{"é": "\\u00e9"}',
    ],
)
def test_every_value_of_a_text_is_met_once_and_closed(text):
    def all_of(value, path=()):
        yield path
        members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for step, member in members:
            yield from all_of(member, (*path, step))

    moments = paths(text + "\n")
    assert set(all_of(json.loads(text))) == {path for moment in moments for path in moment.read}
    assert moments[-1].open == ()


def test_what_is_no_json_is_borne():
    paths('}]],,"":{{[[x" \\')
