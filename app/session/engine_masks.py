"""The masks of other engines beside the session's, at the current position and along its run.

Nothing waits for them: they are requested once the session rests, and answers about another run are dropped.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from PySide6.QtCore import QObject, Signal

from app.catalogue import ui_text
from app.delays import delayed
from app.jobs import JobGroup, Loss, LostRequest
from app.session.compiling import Compiling
from app.session.decoding import Decoding
from app.workers.requests.decode import DecodeView, LookupAnswer, ShowTokens
from app.workers.requests.engine_masks import (
    EngineChoice,
    EngineMask,
    EngineMasksAnswer,
    PackedVocabulary,
    PackVocabulary,
    PartedPosition,
    ReadEngineMasks,
)
from engine.decoding.values import Candidate, Step

MOST_GAINED: Final = 32
"""The number of tokens that only engines allow and that are shown beside the model's."""
_REST_MS: Final = 120


class ComparedMasks(QObject):
    """The chosen engines, and their masks.

    Attributes:
        masks: the masks at the current position, in the order of the choice; empty while they are not known.
        gained: the candidates that only engines allow, those that the model prefers.

    Signals:
        changed(): `engines`, `masks` or `gained` is another one.
    """

    changed = Signal()

    def __init__(
        self, compiling: Compiling, decoding: Decoding, engines: JobGroup, decode: JobGroup, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._compiling, self._decoding, self._engines_group, self._decode = compiling, decoding, engines, decode
        self._engines: tuple[EngineChoice, ...] = ()
        self._request: ReadEngineMasks | None = None
        self._vocabulary = PackedVocabulary()
        self.masks: tuple[EngineMask, ...] = ()
        self.gained: tuple[Candidate, ...] = ()
        self._rest = delayed(self, _REST_MS, self._ask)
        decoding.view_changed.connect(lambda _view: self._expect())
        compiling.compiled.connect(lambda _drawn: self._expect())

    @property
    def engines(self) -> tuple[EngineChoice, ...]:
        """Return the chosen engines."""
        return self._engines

    def choose(self, engines: tuple[EngineChoice, ...]) -> None:
        """Compare with other engines; none ends the comparison."""
        if engines != self._engines:
            self._engines = engines
            self._request = None
            self._show((), ())
            self._expect()

    @property
    def parted(self) -> dict[int, str]:
        """Return how the masks differ along the run, by the number of the tokens of the run before."""
        found: dict[int, list[str]] = {}
        for mask in self.masks:
            for one in mask.parted:
                found.setdefault(one.position, []).append(parted_text(mask.title, one))
        return {position: "\n".join(lines) for position, lines in found.items()}

    @property
    def run(self) -> tuple[Step, ...]:
        """Return the steps whose tokens the grammar has read; `parted` is about them."""
        return steps_in_grammar(self._decoding.view) or ()

    def _expect(self) -> None:
        """Ask about the present position soon; the old answer does not hold any more."""
        request = self._present()
        if request == self._request:
            return
        self._request = None
        self._engines_group.cancel(lambda one: isinstance(one, ReadEngineMasks))
        if request is None:
            self._rest.stop()
        else:
            self._rest.start()
        if self.masks or self.gained:
            self._show((), ())

    def _present(self) -> ReadEngineMasks | None:
        """Return the request about the current position, without a vocabulary; None if there is nothing to compare."""
        view, drawn = self._decoding.view, self._compiling.last_good
        if not self._engines or view.model is None or drawn is None or view.position is None:
            return None
        steps = steps_in_grammar(view)
        if steps is None or drawn.request.revision != view.grammar_revision:
            return None
        ids = tuple(step.token_id for step in steps)
        return ReadEngineMasks(drawn.request, self._engines, ids, view.model.vocabulary_fingerprint)

    def _ask(self) -> None:
        request = self._present()
        if request is None:
            return
        self._request = request
        self._send(request)

    def _send(self, request: ReadEngineMasks) -> None:
        asked = self._engines_group.ask(request, self).then(self._on_masks)
        asked.lost(lambda lost: self._on_lost(request, lost))

    def _on_masks(self, answer: EngineMasksAnswer) -> None:
        if not self._is_present(answer.request):
            return
        if answer.needs_vocabulary:
            self._decode.ask(PackVocabulary(), self).then(self._on_vocabulary)
            return
        self._show(answer.masks, ())
        gained = frozenset[int]().union(*(mask.gained for mask in answer.masks))
        if gained:
            self._decode.ask(ShowTokens(tuple(gained), MOST_GAINED), self).then(self._on_gained)

    def _is_present(self, request: ReadEngineMasks) -> bool:
        """Return whether a request is about the current position."""
        return replace(request, vocabulary=b"") == self._request

    def _on_vocabulary(self, packed: PackedVocabulary) -> None:
        request = self._request
        if request is not None and packed.fingerprint == request.fingerprint:
            self._send(replace(request, vocabulary=packed.data))

    def _on_gained(self, found: LookupAnswer) -> None:
        if self.masks:
            self._show(self.masks, found.candidates)

    def _on_lost(self, request: ReadEngineMasks, lost: LostRequest) -> None:
        if lost.cause is not Loss.CANCELLED and self._is_present(request):
            reason = ui_text("session.lost.engines").rstrip(".")
            self._show(tuple(EngineMask(engine, engine.name, reason=reason) for engine in request.engines), ())

    def _show(self, masks: tuple[EngineMask, ...], gained: tuple[Candidate, ...]) -> None:
        self.masks, self.gained = masks, gained
        self.changed.emit()


def parted_text(title: str, parted: PartedPosition) -> str:
    """Return how an engine differs at a position, in a line."""
    texts = []
    for key, count, tokens in (
        ("gained", parted.gained, parted.gained_tokens),
        ("lost", parted.lost, parted.lost_tokens),
    ):
        if count:
            named = ", ".join(tokens) + (", …" if count > len(tokens) else "")
            texts.append(ui_text(f"session.masks.fragment.{key}", count=count, tokens=named))
    return ui_text("session.masks.fragment.parted", name=title, texts=", ".join(texts))


def steps_in_grammar(view: DecodeView) -> tuple[Step, ...] | None:
    """Return the steps whose tokens the grammar has read; None outside of zones, or if it began within a token."""
    prefix, trace = view.grammar_prefix, view.trace
    if prefix is None:
        return None
    steps = {node.id: node.step for node in trace.nodes}
    taken = trace.path[: trace.path.index(trace.current) + 1] if trace.current in trace.path else ()
    found: list[Step] = []
    left = len(prefix)
    for node in reversed(taken):
        if left <= 0:
            break
        if steps[node].token:  # else it is the end, or a control token
            found.append(steps[node])
            left -= len(steps[node].token or b"")
    return tuple(reversed(found)) if left == 0 else None
