"""Exports that an earlier version wrote are equal to today's, apart from comments and from the record of their origin.

`tests/data/exports` has three sources, and what `turnstile export --to TARGET` of commit 3ac5992 made of them; what is
over tokens was made with `--model records`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command_line import run
from safetensors.numpy import load_file

from engine import compile_grammar
from engine.grammar.print_gbnf import print_gbnf

FOLDER = Path(__file__).resolve().parents[2] / "data" / "exports"
SOURCES = {path.name.partition(".")[0]: path for path in FOLDER.glob("*.source.*")}
EXPORTS = sorted(path.name for path in FOLDER.iterdir() if path not in SOURCES.values())
OVER_TOKENS = ("date.json", "date.safetensors")
ORIGIN = ("generator", "options")
COMMENTS = {
    "ebnf": r"#.*\n",
    "gbnf": r"#.*\n",
    "lark": r"//.*\n",
    "dot": r"//.*\n",
    "jflap": r"<!--.*?-->",
    "graphml": r'<data key="\w+">\{"generator".*?</data>',
}


def contents(path: Path) -> object:
    """Return what an export says, without comments and without what names the writer and its options."""
    kind = path.suffix[1:]
    if kind == "safetensors":
        return {name: array.tolist() for name, array in load_file(path).items()}
    text = path.read_text("utf-8").rstrip("\n")
    if kind == "json":
        return {key: value for key, value in json.loads(text).items() if key not in ORIGIN}
    text = re.sub(COMMENTS.get(kind, "(?!)"), "", text, flags=re.DOTALL if kind in ("jflap", "graphml") else 0)
    if kind in ("ebnf", "gbnf"):  # rules were inlined, and characters written, in other ways: xgrammar misread them
        text = re.sub(r"^root ::= text\ntext ::=", "root ::=", text)
        grammar = compile_grammar("gbnf", text).grammar
        assert grammar is not None
        return print_gbnf(grammar)
    return text


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_equals_that_of_an_earlier_version(name, tmp_path):
    source, target = SOURCES[name.partition(".")[0]], name.partition(".")[2]
    written = tmp_path / name
    model = ("--model", "records") if name in OVER_TOKENS else ()
    notation = source.suffix[1:]
    assert not run(
        "export", "--to", target, "--notation", notation, "--grammar-file", source, "--output", written, *model
    )
    assert contents(written) == contents(FOLDER / name)
