"""Tests refer to texts that a user sees by key, code or id, and do not quote them.

A comparison quotes a text if it has four or more of its words in a row, or all of its words if these are two or three
(two begin with a capital letter, since an id or a value may be two words). What a test writes into a field or hands to
a view is not compared. Tests whose subject is the wording itself are exempt: they compose sentences from parts.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter

import pytest
from syntax import parsed

from engine.source.catalogue import area_texts

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
RUN = 4
ENDS = " .:…"
SHORT = (2, 3)
# How sentences are composed of parts and read back: the words are the result.
OF_THE_WORDING = (
    "tests/app/models/test_phrases.py",
    "tests/app/panes/editor/test_explanation.py",
    "tests/architecture",
    "tests/engine/matching/test_byte_descriptions.py",
    "tests/engine/matching/test_explanation",
    "tests/engine/notations/gbnf/test_explanation.py",
    "tests/engine/notations/json_schema/test_explanation.py",
    "tests/engine/notations/regex/test_explanation.py",
    "tests/support/spoken.py",
)
# What is not in the catalogue, although four of its words are: the sentences of an explanation, of an exception for
# developers, of a note in `resources/targets`, of an engine or a browser, of `app.storage`, and the name of a case.
NOT_OURS = (
    *("is not allowed here", "the text may end after it", "there is no notation", "a mask over this vocabulary is"),
    *("it does not enforce", "and does not say so", "it cannot be used", "a part of it is missing"),
    *("the vocabulary cannot spell a text", "not installed: pip install no-such-distribution"),
    *("the match is at line", "failed to parse grammar", "bytes; the limit is", "is not valid json", "the empty text"),
)
COMPARING_CALLS = {"startswith", "endswith", "search", "fullmatch", "match", "findall", "index", "find", "wait"}
PHRASE = re.compile(r"[A-Za-z]{1,}(?:[-’'][A-Za-z]+)*(?:[,;:.]? [A-Za-z]+(?:[-’'][A-Za-z]+)*)+")


def phrases(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the words of each part of a text that is plain prose."""
    for found in PHRASE.findall(text):
        yield tuple(re.findall(r"[A-Za-z’'-]+", found.lower()))


@cache
def quotable() -> tuple[dict[tuple[str, ...], str], dict[str, str]]:
    """Return runs of words of the catalogue, and whole short texts, with the keys of their texts."""
    runs, whole = {}, {}
    for path in sorted((ROOT / "resources/texts").glob("*.toml")):
        for name, text in area_texts(path.stem).items():
            key = f"{path.stem}.{name}"
            for form in filter(None, (text.other, text.one)):
                pieces = list(Formatter().parse(form))
                for words in (words for literal, *_ in pieces for words in phrases(literal)):
                    runs.update((words[at : at + RUN], key) for at in range(len(words) - RUN + 1))
                if len(pieces) == 1 and len(form.split()) in SHORT:
                    whole[form.strip(ENDS)] = key
    return runs, whole


def quoted_key(text: str) -> str | None:
    """Return the key of a text that a string quotes; None if it quotes none."""
    runs, whole = quotable()
    for words in phrases(text):
        for at in range(len(words) - RUN + 1):
            run = words[at : at + RUN]
            if run in runs and run not in others():
                return runs[run]
    short = text.strip(ENDS)
    if short in NOT_OURS or (len(short.split()) < max(SHORT) and not short[:1].isupper()):
        return None
    return next((whole[form] for form in (short, short[:1].lower() + short[1:]) if form in whole), None)


@cache
def others() -> frozenset[tuple[str, ...]]:
    """Return the runs of words of what is not in the catalogue."""
    found = [words for text in NOT_OURS for words in phrases(text)]
    return frozenset(words[at : at + RUN] for words in found for at in range(len(words)))


def compared(tree: ast.Module) -> Iterator[ast.Constant]:
    """Yield the strings that a test compares, or hands to a test as a parameter."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, comparators=others):
                roots = [left, *others]
            case ast.Assert(test=test):
                roots = [test]
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[_, values, *_]):
                roots = [values]
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=args) if name in COMPARING_CALLS:
                roots = list(args)
            case ast.keyword(arg="match", value=value):
                roots = [value]
            case _:
                continue
        for root in roots:
            yield from (one for one in ast.walk(root) if isinstance(one, ast.Constant) and isinstance(one.value, str))


def quotations(source: str) -> list[str]:
    """Return the line and the key of each text of the catalogue that a test module quotes in a comparison."""
    found = {(one.lineno, one.col_offset): quoted_key(one.value) for one in compared(parsed(source))}
    return [f"{line}: {key}" for (line, _), key in sorted(found.items()) if key is not None]


def modules() -> Iterator[Path]:
    for path in sorted(TESTS.rglob("*.py")):
        if not path.relative_to(ROOT).as_posix().startswith(OF_THE_WORDING):
            yield path


def test_no_test_quotes_a_text_of_the_catalogue():
    found = {path.relative_to(ROOT).as_posix(): quotations(path.read_text("utf-8")) for path in modules()}
    assert {path: lines for path, lines in found.items() if lines} == {}, "use `shows`, `ui_text` or `raises_key`"


@pytest.mark.parametrize(
    ("planted", "is_found"),
    [
        ("assert label.text() == 'The budget was not checked: the tokens of the output are not known.'", True),
        ("assert 'the tokens of the output' in label.text()", True),
        ("assert label.text().startswith('The budget was not checked')", True),
        ("with raises(Error, match='the budget was not checked'): pass", True),
        ("@mark.parametrize('said', ['the budget was not checked'])\ndef test(said): pass", True),
        ("assert button.text() == 'Write folder…'", True),
        ("assert kind == 'free text'", False),
        ("assert label.text() == ui_text('verdicts.budget.unknown')", False),
        ("field.setText('The budget was not checked')", False),
        ("assert label.text() == 'oranges of the test alone'", False),
    ],
)
def test_a_planted_quotation_is_found(planted, is_found):
    assert bool(quotations(planted)) == is_found
