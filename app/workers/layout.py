"""The layout group: sizes in, positions out.

No layout library can be asked to stop, so `lay_out` chooses a method by the work that it takes. One that does not
return all the same costs the process, which keeps nothing; the window then asks for the layout whose time is linear.
"""

from __future__ import annotations

import threading

from app.graph.layout.methods import lay_out
from app.graph.layout.types import LayoutAnswer, LayoutRequest
from app.workers.loop import Handler, Job, handles
from app.workers.requests.layout import LayOut, LayOutPlainly


class LayoutHandler(Handler):
    """Lays graphs out, one at a time: Graphviz keeps what it reads of a graph in global variables."""

    def __init__(self) -> None:
        super().__init__()
        self._one_at_a_time = threading.Lock()

    def warm(self) -> None:
        """Load the libraries by laying out the smallest graph; runs in a thread beside the first request."""
        self._laid_out(LayoutRequest(-1, ((0, 1.0, 1.0),), (), 0))

    @handles(LayOut)
    def _lay_out(self, request: LayOut, _job: Job) -> LayoutAnswer:
        return self._laid_out(request.graph)

    @handles(LayOutPlainly)
    def _lay_out_plainly(self, request: LayOutPlainly, _job: Job) -> LayoutAnswer:
        return self._laid_out(request.graph, plainly=True)

    def _laid_out(self, request: LayoutRequest, *, plainly: bool = False) -> LayoutAnswer:
        with self._one_at_a_time:
            return lay_out(request, plainly=plainly)
