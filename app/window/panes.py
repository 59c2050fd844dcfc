"""The panes of a window: one line each, here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from app.pane_spec import PaneContext, PanePresenter, PaneSpec
from app.panes import (
    automaton,
    branches,
    breakpoints,
    editor,
    engines,
    forced,
    generation,
    parse_tree,
    probabilities,
    problems,
    railroad,
    sample,
    strategies,
    test_strings,
    timeline,
)
from app.panes.automaton.presenter import AutomatonPresenter
from app.panes.editor.presenter import EditorPresenter
from app.panes.generation.presenter import GenerationPresenter
from app.panes.problems.presenter import ProblemsPresenter
from app.widgets.lazy import Lazy
from engine.source.registry import extension_objects

PANES = (
    editor.PANE,
    automaton.PANE,
    generation.PANE,
    problems.PANE,
    probabilities.PANE,
    test_strings.PANE,
    timeline.PANE,
    breakpoints.PANE,
    forced.PANE,
    engines.PANE,
    railroad.PANE,
    parse_tree.PANE,
    sample.PANE,
    strategies.PANE,
    branches.PANE,
)
"""The panes in the order of their tabs; those of other distributions follow."""

for _spec in PANES:
    _spec.declare()

Presenter = TypeVar("Presenter", bound=PanePresenter)


def all_panes() -> tuple[PaneSpec, ...]:
    """Return the panes with those of other distributions, whose commands are declared."""
    extensions = tuple(extension_objects("panes", "PANE"))
    for spec in extensions:
        spec.declare()
    return (*PANES, *extensions)


class Panes:
    """The presenters of a window's panes by id.

    Attributes:
        editor, automaton, generation, problems: the views that the layout, the menus and the tour point at.
    """

    def __init__(self, specs: tuple[PaneSpec, ...], context: PaneContext) -> None:
        self._presenters = {spec.id: spec.factory(context) for spec in specs}
        self.specs = specs
        self.editor = self.of(EditorPresenter).view
        self.automaton = self.of(AutomatonPresenter).view
        self.generation = self.of(GenerationPresenter).view
        self.problems = self.of(ProblemsPresenter).view

    def __getitem__(self, pane_id: str) -> PanePresenter:
        return self._presenters[pane_id]

    def __iter__(self) -> Iterator[PanePresenter]:
        return iter(self._presenters.values())

    def view(self, pane_id: str) -> Any:
        """Return the widget of a pane; create it if necessary."""
        view = self[pane_id].view
        return view.get() if isinstance(view, Lazy) else view

    def of(self, kind: type[Presenter]) -> Presenter:
        """Return the presenter of a class."""
        return next(presenter for presenter in self if isinstance(presenter, kind))

    def save(self) -> dict[str, bytes]:
        """Return what is open in the panes, by name."""
        return {name: value for presenter in self for name, value in presenter.save().items()}

    def restore(self, saved: Mapping[str, bytes]) -> None:
        """Open what was saved."""
        for presenter in self:
            presenter.restore(saved)
