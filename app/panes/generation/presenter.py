"""Binds the generation pane to the session."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from urllib.parse import urlsplit

from app.catalogue import ui_text
from app.models.candidates import EngineColumn, GivenColumn
from app.pane_spec import Area, PaneContext, PanePresenter, PaneSpec
from app.panes.generation.pane import GenerationPane
from app.panes.generation.processor_commands import ProcessorCommands
from app.panes.generation.run_commands import RunCommands
from app.session import CompiledGrammarView, Notification
from app.workers.requests.decode import DecodeView, WhyAnswer
from app.workers.requests.engine_masks import EngineChoice, EngineMask
from app.workers.requests.engines import EngineList
from app.workers.requests.scoring import AttributePrompt
from app.workers.requests.strategies import ContinuationRequest
from engine.decoding.values import Candidate, SampleOutcome, StepOrigin

_ENGINES = "compared"
_GIVEN = "given"  # whether the probabilities given the grammar are shown
_PAGE = "generation"  # the page that is open beside the candidates


class GenerationPresenter(PanePresenter):
    """Shows the generation, and requests what the user does there.

    Attributes:
        runs: the commands of runs.
    """

    def __init__(self, context: PaneContext) -> None:
        super().__init__(context)
        self.view: GenerationPane = GenerationPane()
        self._worst_step: int | None = None  # of an output of many seeds that is generated again
        self._given: GivenColumn | None = None
        self._given_at: object = None
        self._connect_session()
        self._connect_view()
        self._show_refusals()
        context.commands.add(self.view)
        self.runs = RunCommands(context, self.view)
        self.processors = ProcessorCommands(context, self.view.processors)

    def _connect_session(self) -> None:
        session, decoding, view = self.session, self.session.decoding, self.view
        queries = decoding.queries
        session.document.leaving.connect(view.prompt.commit)
        decoding.view_changed.connect(self._show)
        queries.explained.connect(self._explain)
        queries.given_found.connect(lambda notice: self._show_given(GivenColumn(notice.found)))
        queries.assessed.connect(lambda found: view.show_assessment(found.verdict))
        queries.respelled.connect(lambda found: view.output.show_respellings(found.parts))
        queries.sampled.connect(view.show_many)
        queries.sampling_stopped.connect(view.stop_many)
        decoding.running_changed.connect(view.set_running)
        decoding.running_changed.connect(self._end_run)
        decoding.model_opened.connect(lambda: view.show_banner(""))
        session.view_changed.connect(lambda drawn: view.set_source(drawn.request.text))
        session.step_allowed_changed.connect(self._show_refusals)
        session.activity_changed.connect(self._show_loading)
        session.live_changed.connect(self._name_targets)
        session.compared_masks.changed.connect(self._show_engines)
        session.engines.listed.connect(self._show_installed)
        session.price.changed.connect(lambda: view.price.show_price(session.price.found))

    def _connect_view(self) -> None:
        session, decoding, view = self.session, self.session.decoding, self.view
        view.token_taken.connect(decoding.choose)
        view.why_wanted.connect(decoding.queries.explain)
        view.lookup_wanted.connect(lambda text: decoding.queries.look_up(text, view.show_lookup))
        view.text_explained.connect(self._explain)
        view.candidates.continuation_wanted.connect(self._find_continuation)
        view.candidates.continuation_cancelled.connect(lambda: session.forced.cancel(ContinuationRequest))
        view.words_wanted.connect(self._attribute)
        view.words_cancelled.connect(lambda: session.forced.cancel(AttributePrompt))
        view.node_clicked.connect(self._go_to)
        view.price.step_wanted.connect(self._go_before)
        view.price.span_wanted.connect(session.links.span_chosen)
        view.span_wanted.connect(session.links.span_chosen)
        view.output.bytes_hovered.connect(session.links.output_hovered)
        session.links.output_pointed.connect(view.output.mark_bytes)
        session.links.branch_read.connect(lambda branch: view.output.read(branch[0] if branch else None))
        session.document.archived_changed.connect(self._show_archived)
        view.prompt_edited.connect(decoding.set_prompt)
        view.prompt_drafted.connect(lambda prompt: session.document.draft(prompt=prompt))
        view.secrets_removed.connect(self._report_secrets)
        view.sampler_edited.connect(decoding.set_sampler)
        view.budget_edited.connect(decoding.set_max_tokens)
        view.many_wanted.connect(decoding.sample_many)
        view.many_cancelled.connect(decoding.queries.cancel_sampling)
        view.outcome_opened.connect(self._generate_again)
        view.heat_wanted.connect(self._show_lost_mass)
        view.loading_cancelled.connect(decoding.cancel_model)
        view.engines_wanted.connect(self._list_engines)
        view.engines_chosen.connect(session.compared_masks.choose)
        view.candidates.given_wanted.connect(self._watch_given)
        for table in (view.candidates.table, view.candidates.ends):
            table.pointed_at.connect(self._point_at)

    def save(self) -> dict[str, bytes]:
        """Return which page is open, and the engines that are compared."""
        engines = [[one.name, one.is_server] for one in self.session.compared_masks.engines]
        return {
            _PAGE: str(self.view.pages.currentIndex()).encode(),
            _ENGINES: json.dumps(engines).encode(),
            _GIVEN: b"1" if self._given is not None else b"",
        }

    def restore(self, saved: Mapping[str, bytes]) -> None:
        """Open the saved page, and compare with the saved engines."""
        self._watch_given(saved.get(_GIVEN) == b"1")
        page = saved.get(_PAGE, b"")
        if page in (str(index).encode() for index in range(self.view.pages.count())):
            self.view.pages.setCurrentIndex(int(page))
        if engines := _saved_engines(saved.get(_ENGINES, b"")):
            self.view.compare.choose(engines)
            self.session.compared_masks.choose(engines)

    def _show(self, shown: DecodeView) -> None:
        self.view.show_view(shown)
        self._show_archived()
        at = shown.grammar_revision, shown.trace.current, shown.prompt, shown.model
        if at != self._given_at:
            self._given_at = at
            if self._given is not None:
                self._show_given(GivenColumn())

    def _watch_given(self, is_watched: bool) -> None:
        """Show the probabilities given the grammar, which are computed while they are shown, or hide them."""
        if is_watched != (self._given is not None):
            self._show_given(GivenColumn() if is_watched else None)
            self.session.decoding.watch_given(is_watched)

    def _show_given(self, column: GivenColumn | None) -> None:
        self._given = column
        self._show_engines()

    def _show_archived(self) -> None:
        self.view.show_archived(self.session.document.content.archived)

    def _find_continuation(self, text: str) -> None:
        """Compute the probability of a text as a continuation, which ends a run."""
        session, table = self.session, self.view.candidates
        session.decoding.stop_for(ContinuationRequest)
        session.forced.ask(ContinuationRequest(text), table.show_continuation, table.stop_continuation)

    def _attribute(self, token_id: int) -> None:
        """Find out which words of the prompt make the model want a token, which ends a run."""
        session, page = self.session, self.view.open_words()
        session.decoding.stop_for(AttributePrompt)
        page.begin()
        session.forced.ask(AttributePrompt(token_id), page.show_answer, page.stop)

    def _explain(self, answer: WhyAnswer) -> None:
        """Show why a token may come or not, and the keywords of a schema that refuse it once they are found."""
        show = partial(self.view.why.show_refusal, answer)
        self.view.show_why(answer, is_searching=self.session.test_runs.find_refusal(answer, show))

    def _go_to(self, node_id: int) -> None:
        """Go to a step; to a token that the grammar refuses as far as before it, and explain why."""
        decoding = self.session.decoding
        trace = decoding.view.trace
        node = trace.nodes[node_id]
        if node_id not in trace.illegal or node.step.origin == StepOrigin.FORCED_BY_USER:
            decoding.go_to(node_id)
            return
        if trace.current != node.parent:
            decoding.go_to(node.parent)
        decoding.queries.explain(node.step.token_id)

    def _go_before(self, step: int) -> None:
        """Go to where a step of the priced output was taken."""
        path = self.session.price.path
        if step < len(path):
            self.session.decoding.go_to(path[step - 1] if step else None)

    def _show_refusals(self) -> None:
        """Show why no step, or no output, can be generated now."""
        self.view.set_refusal(self.session.step_refusal)
        self.view.set_sampling_refusal(self.session.sampling_refusal)

    def _show_loading(self, text: str, done: int, total: int | None) -> None:
        self.view.show_loading(text if self.session.decoding.model_is_loading else "", done, total)

    def _name_targets(self, states: frozenset[int]) -> None:
        drawn: CompiledGrammarView | None = self.session.compiling.last_good
        # Where the rules are drawn, the states of the neighbourhood have no visible number.
        is_numbered = drawn is not None and drawn.rules is None
        self.view.show_drawn(drawn.dfa if drawn and is_numbered else None, next(iter(states), None))

    def _list_engines(self) -> None:
        self.session.engines.list_engines(self.session.document.content.grammar.notation)

    def _show_installed(self, found: EngineList) -> None:
        if (
            self.view.lazy_compare.built is not None
            and found.notation == self.session.document.content.grammar.notation
        ):
            self.view.compare.show_installed(found.engines)

    def _show_engines(self) -> None:
        """Show a column for each engine that is compared."""
        compared = self.session.compared_masks
        masks = {mask.engine: mask for mask in compared.masks}
        columns = tuple(EngineColumn(_title(one, masks.get(one)), masks.get(one)) for one in compared.engines)
        given = () if self._given is None else (self._given,)
        self.view.candidates.show_engines((*given, *columns), compared.gained)

    def _point_at(self, candidate: Candidate | None) -> None:
        self.session.links.token_hovered.emit(candidate.token if candidate else None)

    def _report_secrets(self, count: int) -> None:
        text = ui_text("window.notation.secrets", count=count)
        self.session.notification_raised.emit(Notification("generation", text, severity="warning"))

    def _generate_again(self, outcome: SampleOutcome) -> None:
        """Generate an output from the beginning, past breakpoints, and go to before the step with its lowest mass.

        The present output stays as a branch.
        """
        decoding = self.session.decoding
        decoding.set_sampler(replace(self.session.document.content.sampler, seed=outcome.seed))
        decoding.restart()
        decoding.run()
        self._worst_step = outcome.least_z_step

    def _end_run(self, is_running: bool) -> None:
        """Go to before the worst step of an output of many seeds, once that is generated again."""
        shown, worst = self.session.decoding.view, self._worst_step
        if is_running or worst is None:
            return
        self._worst_step = None
        is_ended = shown.position is not None and shown.position.finish is not None
        if is_ended and worst < len(shown.trace.path):
            self.session.decoding.go_to(shown.trace.path[worst - 1] if worst else None)

    def _show_lost_mass(self) -> None:
        """Show the heat map of lost mass, and its list."""
        commands = self.context.commands
        if not commands["automaton.lost_mass"].isChecked():
            commands["automaton.lost_mass"].trigger()
        commands["automaton.heat_list"].trigger()


def _title(engine: EngineChoice, mask: EngineMask | None) -> str:
    """Return the title of the column of an engine."""
    if mask is not None and mask.title != engine.name:  # it has the name that the server gives itself
        return mask.title
    return urlsplit(engine.name).netloc if engine.is_server else engine.name


def _saved_engines(saved: bytes) -> tuple[EngineChoice, ...]:
    """Return saved engines; what is damaged is none."""
    try:
        return tuple(EngineChoice(str(name), bool(is_server)) for name, is_server in json.loads(saved))
    except (ValueError, TypeError):
        return ()


PANE = PaneSpec(
    "generation",
    "Ctrl+3",
    (1, 3),
    Area.COLUMN,
    GenerationPresenter,
    menu=("run.step", "run.back", "run.run", "run.restart", "run.until", "run.why", "run.processors"),
)
