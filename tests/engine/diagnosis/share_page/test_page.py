"""The page: whole, safe against its own data, and written as a whole or not at all."""

from __future__ import annotations

import base64
import errno
import hashlib
import json
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest
from catalogue_texts import text_pattern
from error_keys import raises_key

from engine.compile import compile_grammar
from engine.decoding.values import ArchivedBranch, Step, StepOrigin, TopToken, Trace, TraceNode
from engine.diagnosis.share_page.page import page, write_page
from engine.diagnosis.share_page.page_data import build_page_data
from engine.document.content import DocumentFile, GrammarPart, ModelPart
from engine.source import EngineError
from engine.source.catalogue import area_texts, catalogue_entry, catalogue_text

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u2028\u2029&lt;@DATA@ @SCRIPT@"


def evil_work() -> DocumentFile:
    """A work all of whose texts are markup."""
    text = EVIL.encode()
    top = (
        TopToken(1, text, "", 0.5, allowed=False),
        TopToken(2, None, EVIL, 0.2, allowed=False),
        TopToken(3, b"a", "", 0.1, allowed=True),
    )
    step = Step(
        3, b"a", "", 0.1, 1.0, 0.1, 1, forced=True, wanted_id=1, origin=StepOrigin.SAMPLER, configuration=1, top=top
    )
    wrong = Step(
        1, text, "", 0.5, 0.0, 0.1, 1, forced=False, wanted_id=1, origin=StepOrigin.FORCED_BY_USER, configuration=1
    )
    trace = Trace((TraceNode(0, None, step), TraceNode(1, 0, wrong), TraceNode(2, 0, step)), (0, 1), 1)
    archived = ArchivedBranch(EVIL, EVIL, (step,))
    return DocumentFile(
        title=EVIL,
        grammar=GrammarPart("regex", f"a|{EVIL}"),
        model=ModelPart(EVIL, EVIL),
        prompt=EVIL,
        trace=trace,
        archived=(archived,),
    )


def document_of(work: DocumentFile):
    return build_page_data(work, compile_grammar(work.grammar.notation, work.grammar.text), None)


def names(folder: Path) -> list[str]:
    return [one.name for one in folder.iterdir()]


class Reader(HTMLParser):
    """What a browser's parser sees: the tags, and the content of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[str] = []
        self._is_raw = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._is_raw = tag in ("script", "style", "title")
        if self._is_raw:
            self.raw.append("")

    def handle_endtag(self, tag):
        self._is_raw = False

    def handle_data(self, data):
        if self._is_raw:
            self.raw[-1] += data


def test_the_data_are_data():
    document = document_of(evil_work())
    text = page(document)
    read = Reader(text)
    assert [tag for tag, _ in read.tags].count("script") == 2
    assert "img" not in [tag for tag, _ in read.tags]
    title, _, data, _ = read.raw
    assert title == EVIL
    assert json.loads(data) == document
    assert not set("<>&\u2028\u2029") & set(data)


def test_nothing_is_loaded_and_only_its_own_script_runs():
    text = page(document_of(evil_work()))
    read = Reader(text)
    for tag, attributes in read.tags:
        assert tag not in ("link", "iframe", "object", "embed", "base", "form", "img")
        assert not {"src", "href", "action", "srcset"} & attributes.keys()
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
    _, style, _, script = read.raw
    policy = next(one["content"] for _, one in read.tags if one.get("http-equiv") == "Content-Security-Policy")
    for kind, content in (("script-src", script), ("style-src", style)):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_the_script_makes_no_markup_and_asks_nobody():
    script = files("resources").joinpath("share", "page.js").read_text("utf-8")
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "fetch("):
        assert word not in script
    for word in ("XMLHttpRequest", "WebSocket", "import(", "localStorage", "location"):
        assert word not in script


def test_every_element_that_the_script_asks_for_is_there():
    shown = files("resources").joinpath("share")
    ids = set(re.findall(r' id="([a-z-]+)"', shown.joinpath("page.html").read_text("utf-8")))
    asked = set(re.findall(r'\bat\("([a-z-]+)"\)', shown.joinpath("page.js").read_text("utf-8")))
    assert asked
    assert asked <= ids


def test_every_text_of_the_page_is_used_and_every_one_that_is_used_is_there():
    shown = files("resources").joinpath("share")
    texts = {name.removeprefix("page.") for name in area_texts("share") if name.startswith("page.")}
    in_page = set(re.findall(r"@page\.([a-z_]+)@", shown.joinpath("page.html").read_text("utf-8")))
    script = shown.joinpath("page.js").read_text("utf-8")
    calls = re.findall(r"\b(?:say|parts)\(((?:[a-z.]+ \? )?\"[^)]*?)[,)]", script)
    in_script = {f"fragment.script.{name}" for call in calls for name in re.findall(r'"([a-z_]+)"', call)}
    assert in_page
    assert in_script
    assert texts == in_page | in_script


def test_the_page_has_no_text_of_its_own():
    shown = files("resources").joinpath("share")
    html = re.sub(r"<(title|style|script).*?</\1>", "", shown.joinpath("page.html").read_text("utf-8"), flags=re.DOTALL)
    read = re.sub(r"@[A-Za-z_.]+@", "", " ".join(re.findall(r">([^<]+)<", html)))
    labels = re.findall(r'(?:title|aria-label)="(?!@page)', html)
    assert (re.findall(r"[A-Za-z]{2,}", read), labels) == ([], [])
    script = re.sub(r"^ *(//|/\*\*).*$", "", shown.joinpath("page.js").read_text("utf-8"), flags=re.MULTILINE)
    sentences = [text for text in re.findall(r'"([^"\n]*)"', script) if re.search(r"[A-Za-z]{2,} [a-z]", text)]
    assert [text for text in sentences if text != "use strict"] == []


def test_the_script_gets_its_texts_with_both_forms():
    texts = document_of(evil_work())["texts"]
    assert texts["place"] == catalogue_entry("share.page.fragment.script.place").other
    allowed = catalogue_entry("share.page.fragment.script.allowed")
    assert texts["allowed"] == {"one": allowed.one, "other": allowed.other}


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("look", [0, 1])
def test_its_colours_can_be_read(look):
    """At least 4.5 to 1, by WCAG 2.1, in both looks."""
    style = files("resources").joinpath("share", "page.css").read_text("utf-8")
    build_page_data = dict(
        re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", style.split("@media (prefers-color-scheme: dark)")[look])
    )
    grounds = {"text": "window", "muted": "window", "on-accent": "accent"}
    inks = [
        name
        for name in build_page_data
        if name.startswith("syntax-") or f"{name}-fill" in build_page_data or name in ("accent", "hint")
    ]
    pairs = [*grounds.items(), *((ink, "panel") for ink in inks), *((ink, f"{ink}-fill") for ink in inks)]
    pairs += [
        ("text", name) for name in build_page_data if name.endswith("-fill") or name in ("panel", "raised", "selection")
    ]
    pairs = [(ink, ground) for ink, ground in pairs if ground in build_page_data]
    assert len(pairs) > 25
    for ink, ground in pairs:
        light, dark = sorted((luminance(build_page_data[ink]), luminance(build_page_data[ground])), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (ink, ground)


def test_a_page_is_written_whole(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")
    text = page(document_of(evil_work()))
    assert write_page(path, text) == len(text.encode())
    assert path.read_text("utf-8") == text
    assert names(tmp_path) == ["page.html"]


def test_a_character_that_no_file_holds_is_replaced(tmp_path):
    assert write_page(tmp_path / "page.html", "a\ud800b") == 3
    assert (tmp_path / "page.html").read_text("utf-8") == "a?b"


@pytest.mark.parametrize("name", ["no/such/folder/page.html", ".", "nul\0"])
def test_where_it_cannot_be_written(name, tmp_path):
    with pytest.raises(EngineError, match=text_pattern("errors.diagnosis.page.unwritable")):
        write_page(tmp_path / name, "text")
    assert names(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_device_or_pipe_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    for name in ("pipe", "link"):
        with raises_key(EngineError, "errors.diagnosis.page.device"):
            write_page(tmp_path / name, "text")
    assert (tmp_path / "pipe").is_fifo()


def test_a_link_stays_one(tmp_path):
    (tmp_path / "link.html").symlink_to(tmp_path / "real.html")
    write_page(tmp_path / "link.html", "text")
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "real.html").read_text() == "text"


def test_a_full_disk_leaves_what_stood_there(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")

    def full(_descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with raises_key(EngineError, "errors.diagnosis.page.unwritable", reason="No space left on device"):
        write_page(path, "new")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["page.html"]


def test_what_the_disk_changed_is_no_page(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "read_bytes", lambda _path: b"something else")
    with raises_key(EngineError, "errors.diagnosis.page.differs"):
        write_page(tmp_path / "page.html", "text")
    assert names(tmp_path) == []


@pytest.mark.skipif(BROWSER is None, reason="needs a browser, which no Python package brings along")
def test_a_browser_shows_it_and_runs_nothing_else(tmp_path):
    path = tmp_path / "page.html"
    write_page(path, page(document_of(evil_work())))
    command = [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    ran = subprocess.run(
        [*command, "--virtual-time-budget=2000", "--dump-dom", path.as_uri()],
        capture_output=True,
        timeout=280,
        check=True,
    )
    shown = Reader(ran.stdout.decode())
    tags = [tag for tag, _ in shown.tags]
    assert (tags.count("script"), tags.count("img")) == (2, 0)
    chips = [one for tag, one in shown.tags if tag == "button" and "aria-label" in one and "Step " in str(one["title"])]
    assert len(chips) == 2
    script = "share.page.fragment.script"
    said = catalogue_text(f"{script}.by_model", percent="10.0%")
    first = catalogue_text(f"{script}.step", step="1"), "a", catalogue_text(f"{script}.forced"), said
    assert str(chips[0]["title"]) == ", ".join(first)
    assert catalogue_text(f"{script}.against") in str(chips[1]["title"])
    assert tags.count("option") == 3
    assert catalogue_entry(f"{script}.headline_against").other.rpartition("}")[2] in ran.stdout.decode()
