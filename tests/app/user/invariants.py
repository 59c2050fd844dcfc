"""What holds of a window that has settled, whatever its user did before.

The session's state is the panes' state, the document can be written and read, no
dialog is in the way, buttons tell the truth, and the output is what its tokens
spell and what the grammar allows, by a matcher that knows nothing of the window.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec
import shiboken6
from model_doubles import EOS, LETTERS
from PySide6.QtWidgets import QApplication, QSpacerItem, QWidgetItem

from app.display_text import token_text
from app.panes.generation.chip import ChipKind
from app.session import Session
from app.theme.mnemonics import without_mnemonic
from engine import CompiledGrammar, CompileOptions, Matcher, Vocabulary, compile_grammar
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.values import StepOrigin
from engine.document.codec import decode, encode
from engine.document.content import DocumentFile
from tests.app.user.own_window import OwnWindow

_VOCABULARIES = {has_eos: Vocabulary(LETTERS, [EOS] if has_eos else [], {EOS: "<end>"}) for has_eos in (True, False)}


def check(desk: OwnWindow) -> None:
    """Fail if an invariant is broken."""
    assert not desk.uncaught, desk.uncaught[0]
    warnings = desk.warnings()
    assert not warnings, warnings
    modal = QApplication.activeModalWidget()
    assert modal is None, f"a modal dialog is open: {modal!r}"
    _no_bug_was_met(desk)
    _python_knows_no_items_of_layouts()
    _the_document_is_what_is_shown(desk)
    _buttons_tell_the_truth(desk)
    _the_output_is_its_tokens(desk)
    _the_panes_show_the_view(desk)
    _the_grammar_allows_it(desk.session)


def reread(content: DocumentFile) -> DocumentFile:
    """A document as it comes back from its file."""
    return decode(encode(content), "walk")


def _python_knows_no_items_of_layouts() -> None:
    """Qt deletes them unheard, and the next thing at their address crashes: see tests/architecture/test_layouts.py."""
    items = [one for one in shiboken6.getAllValidWrappers() if isinstance(one, QWidgetItem | QSpacerItem)]
    known = [shiboken6.dump(one) for one in items if not shiboken6.createdByPython(one)]
    assert not known, known


def _no_bug_was_met(desk: OwnWindow) -> None:
    for banner in desk.window.banners.banners:
        assert "Internal error" not in banner.notification.text, (
            f"{banner.notification.text}\n{banner.notification.details}"
        )


def _the_document_is_what_is_shown(desk: OwnWindow) -> None:
    content, window = desk.document.content, desk.window
    assert window.panes.editor.text() == content.grammar.text
    assert msgspec.json.encode(reread(content)) == msgspec.json.encode(content)
    assert reread(content) == content
    assert window.isWindowModified() == desk.document.is_modified
    assert window.panes.generation.budget.value() == content.max_tokens
    assert tuple(window.panes.view("tests").model.expected) == content.test_strings
    assert window.panes.view("breakpoints").model.rows == content.breakpoints
    assert window.panes.editor.edit.notation == content.grammar.notation
    documents, tabs = desk.document.documents, window.tabs
    assert [tabs.tabText(index).removesuffix(" •") for index in range(tabs.count())] == [
        one.title.replace("&", "&&") for one in documents
    ]
    assert documents[tabs.currentIndex()] is desk.document.shown
    assert tabs.isVisible() == (len(documents) > 1)


def _buttons_tell_the_truth(desk: OwnWindow) -> None:
    session, window = desk.session, desk.window
    refusal, commands = session.step_refusal, window.commands
    assert commands["run.step"].isEnabled() == (not refusal), refusal
    assert window.toolbar.step_button.isEnabled() == (not refusal), refusal
    assert commands["run.run"].isEnabled() == (not refusal), refusal
    if refusal:
        assert commands["run.step"].toolTip() == refusal
    has_steps = session.decoding.view.trace.current is not None
    assert commands["run.back"].isEnabled() == has_steps
    assert commands["run.restart"].isEnabled() == has_steps
    assert without_mnemonic(commands["run.run"].text()) == "Run"
    if session.compiling.stale_reason:
        assert refusal


def _the_output_is_its_tokens(desk: OwnWindow) -> None:
    view, box = desk.session.decoding.view, desk.window.panes.generation.output
    steps = {node.id: node.step for node in view.trace.nodes}
    if view.position is not None:
        path, current = view.trace.path, view.trace.current
        taken = () if current is None else path[: path.index(current) + 1]
        spelled = b"".join(steps[node].token or b"" for node in taken if not steps[node].name)
        assert view.position.output == spelled
        assert view.position.index == len(taken)
    if box.archived is not None:
        return  # an earlier output is being read
    shown = box.chips.chips
    assert [chip.id for chip in shown] == list(view.trace.path)
    for chip in shown:
        step = steps[chip.id]
        assert chip.text == token_text(step.token, step.name, step.token_id)
        assert (chip.kind is ChipKind.ILLEGAL) == (chip.id in view.trace.illegal)
    ahead = [chip.ahead for chip in shown]
    assert ahead == sorted(ahead), "what lies ahead stands behind what was taken"
    assert ahead.count(False) == (view.position.index if view.position is not None else ahead.count(False))


def _the_panes_show_the_view(desk: OwnWindow) -> None:
    view, window = desk.session.decoding.view, desk.window
    candidates = window.panes.generation.candidates
    if view.position is not None and not candidates.search.text() and not candidates.only_allowed.isChecked():
        models = candidates.table.candidates, candidates.ends.candidates
        rows = {model.candidate(row) for model in models for row in range(model.rowCount())}
        assert rows == set(view.position.candidates)
    if view.model is not None and not desk.session.decoding.awaits_restore:
        assert desk.document.content.trace == view.trace


def _the_grammar_allows_it(session: Session) -> None:
    """Hold the path and the next mask against a matcher of our own."""
    view, compiling = session.decoding.view, session.compiling
    position, model = view.position, view.model
    good = compiling.last_good
    if position is None or model is None or good is None or view.pipeline != PipelineSettings():
        return
    if view.grammar_revision != good.request.revision or position.broken_at is not None:
        return
    steps = {node.id: node.step for node in view.trace.nodes}
    taken = view.trace.path[: position.index]
    if any(steps[node].origin == StepOrigin.FORCED_BY_USER for node in taken):
        return
    request = good.request
    grammar = _compiled(request.notation, request.text, request.options)
    matcher = Matcher(grammar, _VOCABULARIES[model.spec != "endless"])
    for node in taken:
        assert matcher.accept(steps[node].token_id), f"{steps[node]} is not allowed, yet was taken"
    if position.finish is None:
        allowed = [token for token in range(len(LETTERS)) if matcher.is_allowed(token)]
        assert position.allowed == len(allowed)
        told = {row.token_id: row.allowed for row in position.candidates}
        assert all(told[token] == (token in allowed) for token in told)
        assert position.accepting == matcher.is_accepting


@lru_cache(maxsize=16)
def _compiled(notation: str, text: str, options: CompileOptions) -> CompiledGrammar:
    return compile_grammar(notation, text, options)
