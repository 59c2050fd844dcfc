"""The layout group: sizes in, positions out.

No layout library can be asked to stop, so `lay_out` chooses a method by the work that it takes. One that does not
return all the same costs the process, which keeps nothing; the window then asks for the layout whose time is linear.
"""

from __future__ import annotations

from typing import Any

from app.graph.layout.methods import lay_out
from app.graph.layout.types import LayoutAnswer, LayoutRequest
from app.workers.loop import Emit, Handler
from app.workers.requests.layout import LayOut, LayOutPlainly
from engine.source import CancelToken


class LayoutHandler(Handler):
    """Lays graphs out."""

    def warm(self) -> None:
        """Load the libraries by laying out the smallest graph."""
        lay_out(LayoutRequest(-1, ((0, 1.0, 1.0),), (), 0))

    def handle(self, request: Any, _cancel: CancelToken, _emit: Emit) -> LayoutAnswer:
        """Answer a `LayOut` or a `LayOutPlainly`.

        Args:
            request: the graph and the sizes of its nodes.
            _cancel: not used: no layout library can be stopped.
            _emit: not used.
        """
        match request:
            case LayOut(graph):
                return lay_out(graph)
            case LayOutPlainly(graph):
                return lay_out(graph, plainly=True)
        raise TypeError(f"the layout group does not know {type(request).__name__}")
