"""xgrammar with open objects, as in the standard."""

from __future__ import annotations

from engine.grammar.options import CompileOptions
from engine.peers.adapter import Peer
from engine.peers.adapters.xgrammar import XgrammarAdapter


class OpenXgrammarAdapter(XgrammarAdapter):
    """The `Adapter` of xgrammar with open objects."""

    strict = False


PEER = Peer("xgrammar-open", "xgrammar", OpenXgrammarAdapter, options=CompileOptions(whitespace="any"))
