"""Every adapter whose engine is installed does what it says: masks, texts, refusals."""

import numpy as np
import pytest

from engine.peers import PEERS
from engine.peers.adapter import allows
from engine.vocabulary import Vocabulary

BYTES = Vocabulary([*(bytes((byte,)) for byte in range(256)), b"ab", None], eos_ids=[257])


@pytest.fixture(params=PEERS, ids=lambda peer: peer.name)
def peer(request):
    if request.param.version is None:
        pytest.skip(f"not installed: {request.param.hint}")
    return request.param


@pytest.mark.filterwarnings("ignore")  # how peers' own imports behave is theirs
def test_an_adapter(peer):
    adapter = peer.adapter(BYTES)
    adapter.forget()
    notation = next(one for one in ("regex", "gbnf") if one in peer.notations)
    matcher = adapter.compile(notation, "a+b" if notation == "regex" else 'root ::= "a"+ "b"')
    for _ in range(2):
        matcher.reset()
        matcher.fill_mask()
        assert matcher.mask.dtype == np.int32
        assert [i for i in range(257) if allows(matcher.mask, i)] == [ord("a"), 256]
        assert not matcher.is_accepting()
        assert matcher.accept(ord("a"))
        matcher.fill_mask()
        assert not matcher.accept(ord("x"))
        matcher.fill_mask()
        assert matcher.accept(256)
        assert matcher.is_accepting()


@pytest.mark.filterwarnings("ignore")
def test_a_character_is_continued_by_its_own_bytes_only(peer):
    notation = next(one for one in ("regex", "gbnf") if one in peer.notations)
    matcher = peer.adapter(BYTES).compile(notation, "[^b]" if notation == "regex" else "root ::= [^b]")
    matcher.fill_mask()
    assert matcher.accept(0xE1)
    matcher.fill_mask()
    assert [i for i in range(257) if allows(matcher.mask, i)] == list(range(0x80, 0xC0))
    matcher.reset()
    matcher.fill_mask()
    assert matcher.accept(0xE0)
    matcher.fill_mask()
    assert [i for i in range(257) if allows(matcher.mask, i)] == list(range(0xA0, 0xC0))  # others have a shorter form


@pytest.mark.filterwarnings("ignore")
def test_an_adapter_of_schemas(peer):
    adapter = peer.adapter(BYTES)
    matcher = adapter.compile("json_schema", '{"type": "boolean"}')
    for byte in b"true":
        matcher.fill_mask()
        assert matcher.accept(byte)
    assert matcher.is_accepting()


@pytest.mark.filterwarnings("ignore")
def test_a_broken_grammar_is_refused(peer):
    adapter = peer.adapter(BYTES)
    broken = {"regex": "(a", "gbnf": "root ::= (", "json_schema": '{"type": 3}', "music": "la"}
    if peer.name == "llama-cpp":  # an exception of its converter ends the process
        del broken["json_schema"]
    for notation, source in broken.items():
        with pytest.raises(Exception, match=r".+"):
            adapter.compile(notation, source)
