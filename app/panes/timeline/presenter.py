"""Binds the timeline to the session."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from app.catalogue import ui_text
from app.commands import command
from app.display_text import end_text
from app.pane_spec import Area, PaneContext, PanePresenter, PaneSpec
from app.widgets.lazy import Lazy
from app.workers.requests.compile import CountStacks, StackCounts
from app.workers.requests.decode import DecodeView

if TYPE_CHECKING:
    from app.panes.timeline.pane import TimelinePane


@dataclass(frozen=True, slots=True)
class _CountedPath:
    """The stacks after each token of a path."""

    request: CountStacks
    counts: tuple[int | None, ...]

    def along(self, request: CountStacks) -> tuple[int | None, ...]:
        """Return the counts as far as another path has the same tokens; None for the others of this one."""
        if request.compiled != self.request.compiled:
            return ()
        pairs = zip(request.tokens, self.request.tokens, strict=False)
        same = next((index for index, (one, other) in enumerate(pairs) if one != other), len(request.tokens))
        return (*self.counts[:same], *[None] * len(self.counts[same:]))


class TimelinePresenter(PanePresenter):
    """Shows the steps of the trace, and goes to the one that the user clicks."""

    def __init__(self, context: PaneContext) -> None:
        super().__init__(context)
        self.view: Lazy[TimelinePane] = Lazy(self._make)
        self._counted: _CountedPath | None = None
        self._is_counting = False
        self.session.decoding.view_changed.connect(self._show)
        self.session.compared_masks.changed.connect(self._show_parted)
        context.commands.add(self, self.session.step_allowed_changed)

    def _make(self) -> TimelinePane:
        from app.panes.timeline.pane import TimelinePane  # start-up time: the pane is built when first shown

        view, decoding = TimelinePane(), self.session.decoding
        self._show_in(view, decoding.view)
        view.node_clicked.connect(decoding.go_to)
        view.before_wanted.connect(decoding.go_to)
        view.stacks_wanted.connect(self._count_stacks)
        view.show_parted(self._parted())
        return view

    def _show(self, shown: DecodeView) -> None:
        if self.view.built is not None:
            self._show_in(self.view.built, shown)

    def _show_in(self, view: TimelinePane, shown: DecodeView) -> None:
        zones = () if shown.pipeline.zones is None else shown.pipeline.zones.others
        view.show_free_zones(frozenset(number for number, zone in enumerate(zones, 1) if not zone.notation))
        view.show_trace(shown.trace, "" if shown.position is None else end_text(shown.position))

    def _show_parted(self) -> None:
        if self.view.built is not None:
            self.view.built.show_parted(self._parted())

    def _parted(self) -> dict[int, str]:
        """Return how the masks of engines differ, by the index of the step that follows."""
        compared, trace = self.session.compared_masks, self.session.decoding.view.trace
        taken = trace.path.index(trace.current) + 1 if trace.current in trace.path else 0
        before = taken - len(compared.run)  # the tokens before the grammar began
        return {before + position: text for position, text in compared.parted.items()}

    def _count_stacks(self) -> None:
        """Show the known stacks of the path, and request the others; one request is pending at a time."""
        request = self._stacks_request()
        counted = self._counted
        self.view.get().show_stacks(() if request is None or counted is None else counted.along(request))
        if request is not None and not self._is_counting and (counted is None or request != counted.request):
            self._is_counting = True
            self.session.compiling.count_stacks(request, partial(self._show_stacks, request), self._stop_counting)

    def _stacks_request(self) -> CountStacks | None:
        """Return the request about the shown path; None if the grammar does not read all of it."""
        shown, drawn = self.session.decoding.view, self.session.compiling.last_good
        if drawn is None or drawn.request.revision != shown.grammar_revision or shown.pipeline.zones is not None:
            return None
        steps = {node.id: node.step for node in shown.trace.nodes}
        taken = (steps[node_id] for node_id in shown.trace.path)
        return CountStacks(drawn.request, tuple(b"" if step.name else step.token or b"" for step in taken))

    def _show_stacks(self, request: CountStacks, found: StackCounts) -> None:
        self._is_counting, self._counted = False, _CountedPath(request, found.counts)
        self._count_stacks()

    def _stop_counting(self) -> None:
        self._is_counting = False

    @property
    def worst_refusal(self) -> str:
        """Return why there is no most unlikely step; an empty text if there is."""
        return "" if self.session.decoding.view.trace.path else ui_text("window.command.no_step")

    @command("run.worst", "Ctrl+R, W", place=(3, 2), refusal=lambda self: self.worst_refusal)
    def _go_to_worst(self) -> None:
        self.view.get().go_to_worst()


PANE = PaneSpec(
    "timeline",
    "Ctrl+7",
    (1, 7),
    Area.BOTTOM,
    TimelinePresenter,
    menu=("run.step", "run.back", "run.worst", "run.restart"),
)
