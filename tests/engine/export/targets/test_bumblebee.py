"""The Elixir module, read by a small parser of its own, and run as Bumblebee's DFA processor runs it."""

from __future__ import annotations

import re
import shutil
import subprocess

import numpy as np
import pytest
from catalogue_texts import shows, text_pattern
from exports import job, vocabulary

from engine.export.target import Artifact, MismatchError, NotExportableError
from engine.export.targets import target
from engine.export.writing import check, export, make, refusal
from engine.matching import Matcher
from engine.vocabulary import Vocabulary

VOCABULARY = vocabulary()
EOS = 298
TOKEN = re.compile(r'"""(?:.|\n)*?"""|"(?:[^"\\]|\\.)*"|#[^\n]*|\.\.|\\\\|->|<-|[@%&]?\w+[?!]?|[^\s\w]')
PAIRS = {"(": ")", "[": "]", "{": "}", "do": "end"}


def parsed(text: str) -> tuple[str, dict[str, str], list[tuple[int, int, int]]]:
    """Module, attributes and transitions; what is not balanced fails."""
    words = [word for word in TOKEN.findall(text) if not word.startswith("#")]
    opened: list[str] = []
    for at, word in enumerate(words):
        if word in PAIRS and not (word == "do" and words[at + 1] == ":"):
            opened.append(PAIRS[word])
        elif word in PAIRS.values():
            assert opened.pop() == word
    assert not opened
    attributes = dict(re.findall(r"^  @(\w+) (\d+)$", text, re.MULTILINE))
    start = words.index("@transitions")
    transitions: list[tuple[int, int, int]] = []
    at = start + 2
    while words[at] != "]":
        assert [words[at], words[at + 2], words[at + 4], words[at + 5]] == ["{", ",", ",", "["]
        state, following = int(words[at + 1]), int(words[at + 3])
        at += 6
        while words[at] != "]":
            first = last = int(words[at])
            if words[at + 1] == "..":
                last = int(words[at + 2])
                at += 2
            transitions += [(state, token_id, following) for token_id in range(first, last + 1)]
            at += 1 + (words[at + 1] == ",")
        assert words[at + 1] == "}"
        at += 2 + (words[at + 2] == ",")
    return words[words.index("defmodule") + 1], attributes, transitions


def table(transitions: list[tuple[int, int, int]], width: int) -> np.ndarray:
    """As the processor makes it: a row for each state that is named, and row 0 for none."""
    states = {state for one, _, other in transitions for state in (one, other)}
    made = np.zeros((len(states) + 1, width), np.int64)
    for state, token_id, following in transitions:
        assert made[state, token_id] == 0
        made[state, token_id] = following
    return made


@pytest.mark.parametrize("source", ["[0-9]{2}-[a-c]{1,4}", "", "a*", r"[A-Z]+: [a-z]+\n", "(ab|é)+"])
def test_the_processor_allows_what_the_engine_allows(source, tmp_path):
    of = job("regex", source, VOCABULARY, "dates of birth")
    found = export("bumblebee", of, tmp_path / "grammar.ex")
    assert found.check.steps >= found.check.walks
    text = (tmp_path / "grammar.ex").read_text("utf-8")
    module, attributes, transitions = parsed(text)
    assert module == "TurnstileDatesOfBirth"
    assert attributes == {"initial_state": "1", "vocab_size": "300"}
    rows = table(transitions, 300)
    seen, todo = {}, [(1, ())]
    while todo:
        state, taken = todo.pop()
        if state in seen:
            continue
        seen[state] = taken
        matcher = Matcher(of.compiled, VOCABULARY)
        assert all(map(matcher.accept, taken))
        mask = np.unpackbits(matcher.bitmask().view(np.uint8), bitorder="little")[:300]
        if matcher.is_finished:
            mask[EOS] = 1  # a row of a batch that has finished goes on to end
        assert np.flatnonzero(rows[state]).tolist() == np.flatnonzero(mask).tolist()
        todo += [
            (int(rows[state, one]), (*taken, one)[: len(taken) + 1])
            for one in np.flatnonzero(rows[state])
            if not matcher.is_finished
        ]
    assert seen.keys() == set(range(1, rows.shape[0]))


BUMBLEBEE = """\
defmodule Bumblebee do
  def configure(module, options), do: {module, options}
end
"""
"""What the module calls of Bumblebee; its processor is `table` and the walk above."""

PRINT = """\
{Bumblebee.Text.Generation.DFAProcessor, options} = TurnstileWhole.processor()
true = options == TurnstileWhole.options() and TurnstileWhole.options(9)[:vocab_size] == 9
IO.puts("#{options[:initial_state]} #{options[:vocab_size]}")
for {state, token, next} <- options[:state_transitions], do: IO.puts("#{state} #{token} #{next}")
"""


@pytest.mark.skipif(shutil.which("elixir") is None, reason="needs Elixir, of which no Python package holds one")
@pytest.mark.parametrize("source", ["[0-9]{2}-[a-c]{1,4}", "", "[^x]{2,3}|x\n", 'a"""b#{c}'])
def test_elixir_itself_reads_it_so(source, tmp_path):
    export("bumblebee", job("regex", source, VOCABULARY, "whole"), tmp_path / "grammar.ex")
    (tmp_path / "bumblebee.ex").write_text(BUMBLEBEE)
    (tmp_path / "print.exs").write_text(PRINT)
    command = ["elixir", "-r", "bumblebee.ex", "-r", "grammar.ex", "print.exs"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=280, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    first, *lines = ran.stdout.splitlines()
    assert first == "1 300"
    *_, transitions = parsed((tmp_path / "grammar.ex").read_text("utf-8"))
    assert [tuple(map(int, line.split())) for line in lines] == transitions


def test_a_token_taken_whole_is_a_transition():
    made = make("bumblebee", job("gbnf", 'root ::= <think> [a-b] | "x"', VOCABULARY))
    *_, transitions = parsed(made.content.decode())
    think = VOCABULARY.size - 3
    assert [VOCABULARY.special[one] for _, one, _ in transitions if one == think] == ["<think>"]


def test_a_schema_that_does_not_nest():
    schema = '{"type": "object", "properties": {"name": {"enum": ["John", "Paul"]}, "age": {"enum": [20, 30]}}, '
    schema += '"required": ["name", "age"], "additionalProperties": false}'
    of = job("json_schema", schema, VOCABULARY, whitespace="compact")
    made = make("bumblebee", of)
    assert "agree" in check("bumblebee", made, of).sentence
    *_, transitions = parsed(made.content.decode())
    assert (1, ord("{"), 2) in transitions


def test_where_it_comes_from_stands_above():
    text = make("bumblebee", job("regex", 'a"""b#{c}\n', VOCABULARY)).content.decode()
    comment = text.partition("defmodule")[0]
    assert all(not line or line.startswith("#") for line in comment.splitlines())
    assert VOCABULARY.fingerprint in comment
    assert 'a"""b#{c}' in comment
    assert "Turnstile" in comment
    parsed(text)


def test_what_cannot_be_carried_is_refused():
    assert "none" in refusal(target("bumblebee"), job("regex", "a", vocabulary(eos=False)))
    nested = job("gbnf", 'root ::= "(" root ")" | "a"', VOCABULARY)
    assert shows(refusal(target("bumblebee"), nested), "export.refusal.fragment.rules_nest")
    wide = Vocabulary([*VOCABULARY.tokens, *[None] * 2_000_000], [EOS])
    with pytest.raises(NotExportableError, match=text_pattern("errors.export.bumblebee.table_too_large")):
        make("bumblebee", job("regex", "a{2000}", wide))


def test_dead_ends_are_told():
    of = job("regex", "ab", Vocabulary([b"a", b"x", None], [2]))
    made = make("bumblebee", of)
    assert shows(made.notes[0], "export.note.fragment.dead_ends", count=1)
    check("bumblebee", made, of)


def test_a_module_that_was_changed_is_found():
    of = job("regex", "[0-9]{2}", VOCABULARY)
    text = make("bumblebee", of).content.decode()
    for old, new in [
        ("48..57", "48..56"),
        ("@initial_state 1", "@initial_state 9"),
        ("@vocab_size 300", "@vocab_size 301"),
    ]:
        assert old in text
        with pytest.raises(MismatchError):
            check("bumblebee", Artifact((("grammar.ex", text.replace(old, new).encode()),)), of)
