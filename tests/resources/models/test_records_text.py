from __future__ import annotations

import json
import re

import pytest

from resources.models.evaluate import begins_with_object
from resources.models.records_text import documents, paragraphs


def test_a_seed_gives_the_same_documents() -> None:
    assert list(documents(50, 3)) == list(documents(50, 3))
    assert list(documents(50, 3)) != list(documents(50, 4))


def test_every_character_is_an_object_with_the_name_and_age_of_its_prompt() -> None:
    prompt = re.compile(r"A character named (\w+), aged (\d+), as (?:indented |compact )?JSON:\s")
    seen = 0
    for text in documents(500, 1):
        if match := prompt.match(text):
            record, _ = json.JSONDecoder().raw_decode(text[match.end() :])
            assert (record["name"], record["age"]) == (match[1], int(match[2]))
            assert len(record) > 2
            seen += 1
    assert seen > 100


def test_addresses_are_those_reserved_for_examples() -> None:
    text = "".join(documents(1000, 2))
    hosts = set(re.findall(r"@([\w.]+\w)", text))
    assert hosts
    assert all(host.endswith(("example.com", "example.org", "example.net")) for host in hosts)


def test_paragraphs_are_lines_without_headings() -> None:
    book = "CHAPTER I\n\nAlice was beginning to get\nvery tired of sitting by her sister.\n\nToo short.\n"
    assert paragraphs(book) == ["Alice was beginning to get very tired of sitting by her sister.\n"]


@pytest.mark.parametrize(
    ("text", "valid"),
    [('\n{"a": 1} and more', True), (' {"a": 1', False), ("[1]", False), ("", False), ("{}", True)],
)
def test_an_object_is_recognised_at_the_start(text: str, valid: bool) -> None:
    assert begins_with_object(text) is valid
