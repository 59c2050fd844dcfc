"""The documents of a window: their texts, their files, and the revision of the one that is shown.

Panes and sessions know one `Document`, the shown one. Showing another is an exchange below them: they read it anew
after `replaced`, as after opening a file, and what they want to find again later they keep beside it when it is left.

The editor owns undo; the document owns the revision, which names a state of the text for every job that uses it. An
edit marks the document as modified; a step does not, but is autosaved with the rest.

Rejected: a session with panes and worker processes for each document. A window takes 0.3 s to build and its processes
hundreds of megabytes, while an exchange takes as long as a compile.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import msgspec
from PySide6.QtCore import QObject, Signal

from app.delays import delayed
from app.document import file
from app.document.autosave import Autosave, Leftover
from app.document.gallery import examples
from engine.decoding.debugging.breakpoints import Breakpoint, ConditionBreakpoint
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.values import ArchivedBranch, Chat, SamplerSettings, Trace
from engine.diagnosis.private_texts import without_secrets
from engine.document.content import (
    AutomatonPart,
    DocumentFile,
    ExpectedText,
    GrammarPart,
    GrammarVersion,
    ModelPart,
    StateNote,
)


@dataclass(frozen=True, slots=True)
class ExampleExtras:
    """The parts of a document that are removed and restored with a grammar.

    Attributes:
        title: the example's.
        expected_texts: those of the example's test strings that the document still had.
        before: the grammar that they belong to.
        after: the grammar that replaced it; the latest one while they are removed.
        are_removed: whether they are removed.
    """

    title: str
    expected_texts: tuple[ExpectedText, ...]
    before: GrammarPart
    after: GrammarPart
    are_removed: bool = False

    def removed_from(self, content: DocumentFile) -> DocumentFile:
        """Return the document without the extras."""
        remaining = tuple(one for one in content.test_strings if one not in self.expected_texts)
        return msgspec.structs.replace(content, title="", test_strings=remaining)

    def restored_to(self, content: DocumentFile) -> DocumentFile:
        """Return the document with the extras; test strings that were added meanwhile stay."""
        added = tuple(one for one in content.test_strings if one not in self.expected_texts)
        return msgspec.structs.replace(content, title=self.title, test_strings=(*self.expected_texts, *added))

    def after_change(self, grammar: GrammarPart) -> ExampleExtras:
        """Return the extras after a change of the grammar, which may be an undo or a redo."""
        if not self.are_removed:
            return replace(self, are_removed=grammar == self.after)
        if grammar == self.before:
            return replace(self, are_removed=False)
        return replace(self, after=grammar)


def example_extras(content: DocumentFile, before: GrammarPart) -> ExampleExtras | None:
    """Return the extras of the example that a document came from; None if there is none.

    Args:
        content: the document.
        before: its grammar before the last edit.
    """
    example = next((one for one in examples() if one.title == content.title), None)
    if example is None:
        return None
    of_example = example.document().test_strings
    kept = tuple(one for one in content.test_strings if one in of_example)
    return ExampleExtras(content.title, kept, before, content.grammar)


_AUTOSAVE_AFTER_MS = 500  # after the first unsaved change, whatever follows; at most a second may be lost
_ARCHIVED_BRANCHES = 8
_SEVERAL = 2


@dataclass(slots=True, eq=False)
class OpenDocument:
    """An open document with its file, its autosave and what panes keep of it.

    Attributes:
        autosave: writes it.
        content: what would be saved.
        path: its file; None before it has one.
        stamp: that of the file when it was last read or written here.
        is_modified: whether closing it would lose an edit.
        grammar_before: its grammar before the last edit.
        saved_grammar: its grammar as it was last opened or saved.
        saved_in: the file that has the saved grammar; None if it is in none.
        extras: the parts that are removed and restored with a grammar.
        drafts: input that is not active yet, by the names of its fields.
        kept: what panes keep of it while it is not shown, by their names.
    """

    autosave: Autosave
    content: DocumentFile = field(default_factory=DocumentFile)
    path: Path | None = None
    stamp: tuple[int, int] | None = None
    is_modified: bool = False
    grammar_before: GrammarPart = field(default_factory=GrammarPart)
    saved_grammar: GrammarPart = field(default_factory=GrammarPart)
    saved_in: Path | None = None
    extras: ExampleExtras | None = None
    drafts: dict[str, object] = field(default_factory=dict)
    kept: dict[str, object] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Return its title for the window."""
        return self.path.stem if self.path else self.content.title or "Untitled"

    @property
    def is_changed_outside(self) -> bool:
        """Return whether another window or program wrote its file since it was read or written here."""
        now = _stamp_of(self.path)
        return now is not None and now != self.stamp

    @property
    def has_work(self) -> bool:
        """Return whether there is something that is in no file."""
        return self.is_modified or bool(self.drafts)

    def autosave_now(self, ended_by: str = "") -> None:
        """Write the autosave.

        Args:
            ended_by: what is about to end the window; empty if nothing is.
        """
        content = msgspec.structs.replace(self.content, **self.drafts)
        self.autosave.save(content, self.path, is_modified=self.has_work, ended_by=ended_by)


def _opened(autosave: Autosave, content: DocumentFile, path: Path | None, *, modified: bool) -> OpenDocument:
    """Return a document as it is opened."""
    saved_in, grammar = None if modified else path, content.grammar
    return OpenDocument(autosave, content, path, _stamp_of(path), modified, grammar, grammar, saved_in)


class Document(QObject):
    """The document that is shown, and those that are open behind it.

    Signals:
        changed(revision): the grammar's text or its options changed.
        target_changed(): only the engine changed that the grammar is written for.
        leaving(): another open document is about to be shown; panes keep what they want to find again in `kept`.
        replaced(): another document is shown; panes read it again.
        documents_changed(): a document was opened, closed or moved, or another one is shown.
        title_changed(): its path, its title or its modified flag changed.
        archived_changed(): a branch was archived, renamed or removed.
        breakpoints_changed(): a breakpoint was set, removed, enabled or disabled, also one on a condition.
        test_strings_changed(): they were removed or restored with the grammar that they belong to.
        state_notes_changed(): notes about states were changed.
        autosave_failed(reason): a crash would lose the changes from now on.
    """

    changed = Signal(int)
    target_changed = Signal()
    leaving = Signal()
    replaced = Signal()
    documents_changed = Signal()
    title_changed = Signal()
    autosave_failed = Signal(str)
    breakpoints_changed = Signal()
    archived_changed = Signal()
    test_strings_changed = Signal()
    state_notes_changed = Signal()

    def __init__(self, autosave: Autosave, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._shown = OpenDocument(autosave)
        self._documents = [self._shown]
        self._revision = 0
        self._spare: list[Autosave] = []  # of documents that were closed
        self._timer = delayed(self, _AUTOSAVE_AFTER_MS, self.autosave_now)
        autosave.on_failure = self.autosave_failed.emit

    # --- the open documents ------------------------------------------------------------------------------------------

    @property
    def documents(self) -> tuple[OpenDocument, ...]:
        """Return all open documents, in the order of their tabs."""
        return tuple(self._documents)

    @property
    def shown(self) -> OpenDocument:
        """Return the one that is shown."""
        return self._shown

    @property
    def kept(self) -> dict[str, object]:
        """Return what panes keep of the shown document, by their names; empty after it was opened."""
        return self._shown.kept

    def add(self, content: DocumentFile, path: Path | None = None, *, modified: bool = False) -> OpenDocument:
        """Open a document behind the shown one, and return it.

        Args:
            content: its content.
            path: its file; None if it has none.
            modified: whether it has unsaved edits.
        """
        return self._insert(_opened(self._free_autosave(), content, path, modified=modified))

    def recover_behind(self, leftover: Leftover) -> OpenDocument:
        """Open the autosave of a window that did not exit cleanly behind the shown document, and return it."""
        saved, autosave = leftover.saved, self._free_autosave()
        autosave.take(leftover)
        path = Path(saved.path) if saved.path else None
        return self._insert(_opened(autosave, saved.document, path, modified=leftover.has_work))

    def _free_autosave(self) -> Autosave:
        autosave = self._spare.pop() if self._spare else self._shown.autosave.another()
        autosave.on_failure = self.autosave_failed.emit
        return autosave

    def _insert(self, added: OpenDocument) -> OpenDocument:
        self._documents.insert(self._documents.index(self._shown) + 1, added)
        for one in self._documents if len(self._documents) == _SEVERAL else (added,):
            one.autosave_now()
        self.documents_changed.emit()
        return added

    def show(self, one: OpenDocument) -> None:
        """Show another open document."""
        if one is self._shown:
            return
        self.leaving.emit()
        left = self._shown
        left.content, left.is_modified = msgspec.structs.replace(left.content, **left.drafts), left.has_work
        left.drafts.clear()
        self.autosave_now()
        self._shown = one
        self._announce()
        self.documents_changed.emit()

    def close_one(self, one: OpenDocument) -> None:
        """Close one of several documents; its autosave is deleted."""
        at = self._documents.index(one)
        if one is self._shown:
            self.show(self._documents[at + 1 if at + 1 < len(self._documents) else at - 1])
        self._documents.remove(one)
        one.autosave.discard()
        self._spare.append(one.autosave)
        self.documents_changed.emit()

    def move(self, one: OpenDocument, to: int) -> None:
        """Move a document to another place among the tabs."""
        self._documents.remove(one)
        self._documents.insert(to, one)
        self.documents_changed.emit()

    # --- the shown document ------------------------------------------------------------------------------------------

    @property
    def content(self) -> DocumentFile:
        """Return the content that would be saved."""
        return self._shown.content

    @property
    def revision(self) -> int:
        """Return the number of the grammar's current state; it never decreases."""
        return self._revision

    @property
    def path(self) -> Path | None:
        """Return its file; None before it has one."""
        return self._shown.path

    @property
    def is_modified(self) -> bool:
        """Return whether closing it would lose an edit."""
        return self._shown.is_modified

    @property
    def saved_grammar(self) -> GrammarPart:
        """Return the grammar as it was last opened or saved."""
        return self._shown.saved_grammar

    @property
    def saved_in(self) -> Path | None:
        """Return the file that has the saved grammar; None if it is in none."""
        return self._shown.saved_in

    @property
    def is_changed_outside(self) -> bool:
        """Return whether another window or program wrote its file since it was read or written here."""
        return self._shown.is_changed_outside

    @property
    def title(self) -> str:
        """Return the title for the window."""
        return self._shown.title

    def set_text(self, text: str) -> None:
        """Store an edit of the grammar's text."""
        self.set_grammar(msgspec.structs.replace(self._shown.content.grammar, text=text))

    def set_grammar(self, grammar: GrammarPart) -> None:
        """Store a grammar with another text, notation, options or target; an edit like any other."""
        before = self._shown.content.grammar
        if grammar == before:
            return
        self._change(grammar=grammar)
        if grammar.with_target_of(before) == before:
            self._set_modified(modified=True)
            self.target_changed.emit()
            return
        self._shown.grammar_before = before
        if self._shown.extras is not None:
            self._keep_extras(self._shown.extras.after_change(grammar))
        self._touch_grammar()

    def detach_example(self) -> bool:
        """Handle an edit that replaced the whole text: remove the extras of an example.

        Returns:
            whether test strings were removed; undoing the edit restores all of them.
        """
        found = None if self._shown.path else example_extras(self._shown.content, self._shown.grammar_before)
        if found is None:
            return False
        self._shown.extras = found
        self._keep_extras(replace(found, are_removed=True))
        return bool(found.expected_texts)

    def draft(self, *, prompt: str | Chat | None = None, pipeline: PipelineSettings | None = None) -> None:
        """Store input that is not active yet: it is autosaved instead of the active values."""
        for name, value in (("prompt", prompt), ("pipeline", pipeline)):
            if value is not None and value != getattr(self._shown.content, name):
                self._shown.drafts[name] = value
            elif value is not None:
                self._shown.drafts.pop(name, None)
        self._autosave_soon()

    def drop_draft(self, name: Literal["prompt", "pipeline"]) -> None:
        """Drop stored input, which was refused or is active now."""
        if self._shown.drafts.pop(name, None) is not None:
            self._autosave_soon()

    def set_prompt(self, prompt: str | Chat) -> None:
        """Store an edit of the prompt."""
        self.drop_draft("prompt")
        if prompt != self._shown.content.prompt:
            self._change(prompt=prompt)
            self._set_modified(modified=True)

    def set_sampler(self, sampler: SamplerSettings) -> None:
        """Store a change of the sampler."""
        if sampler != self._shown.content.sampler:
            self._change(sampler=sampler)
            self._set_modified(modified=True)

    def set_max_tokens(self, max_tokens: int) -> None:
        """Store a change of the budget, in tokens."""
        if max_tokens != self._shown.content.max_tokens:
            self._change(max_tokens=max_tokens)
            self._set_modified(modified=True)

    def set_pipeline(self, pipeline: PipelineSettings) -> None:
        """Store a change of the stages between the model and the sampler."""
        if self._shown.drafts.get("pipeline") == pipeline:
            self.drop_draft("pipeline")
        if pipeline != self._shown.content.pipeline:
            self._change(pipeline=pipeline)
            self._set_modified(modified=True)

    def set_expected_texts(self, texts: tuple[ExpectedText, ...]) -> None:
        """Store an edit of the test strings."""
        if texts != self._shown.content.test_strings:
            self._change(test_strings=texts)
            self._set_modified(modified=True)

    def set_sample(self, text: str) -> None:
        """Store a change of the sample text."""
        if text != self._shown.content.sample:
            self._change(sample=text)
            self._set_modified(modified=True)

    def set_breakpoints(self, breakpoints: tuple[Breakpoint, ...]) -> None:
        """Store a change of the breakpoints."""
        if breakpoints != self._shown.content.breakpoints:
            self._change(breakpoints=breakpoints)
            self._set_modified(modified=True)
            self.breakpoints_changed.emit()

    def set_conditions(self, conditions: tuple[ConditionBreakpoint, ...]) -> None:
        """Store a change of the conditions that stop runs."""
        if conditions != self._shown.content.conditions:
            self._change(conditions=conditions)
            self._set_modified(modified=True)
            self.breakpoints_changed.emit()

    def set_state_notes(self, notes: tuple[StateNote, ...]) -> None:
        """Store a change of the notes about states."""
        if notes != self._shown.content.state_notes:
            self._change(state_notes=notes)
            self._set_modified(modified=True)
            self.state_notes_changed.emit()

    def set_versions(self, versions: tuple[GrammarVersion, ...]) -> None:
        """Store a change of the versions of the grammar."""
        if versions != self._shown.content.versions:
            self._change(versions=versions)
            self._set_modified(modified=True)

    def set_model(self, model: ModelPart) -> None:
        """Store the model of the trace."""
        if model != self._shown.content.model:
            self._change(model=model)

    def set_automaton(self, automaton: AutomatonPart) -> None:
        """Store the view of the automaton; that is no edit."""
        if automaton != self._shown.content.automaton:
            self._change(automaton=automaton)

    def set_trace(self, trace: Trace) -> None:
        """Store the trace of the session."""
        if trace != self._shown.content.trace:
            self._change(trace=trace)

    def add_archived(self, branch: ArchivedBranch) -> None:
        """Store a branch that a new prompt or a new model archived; the oldest of many without a name is dropped."""
        others = [archived for archived in self._shown.content.archived if archived != branch]
        unnamed = [archived for archived in (branch, *others) if not archived.name]
        dropped = unnamed[_ARCHIVED_BRANCHES:]
        self._set_archived(tuple(one for one in (branch, *others) if not any(one is other for other in dropped)))

    def change_archived(self, branch: ArchivedBranch, changed: ArchivedBranch | None) -> None:
        """Replace an archived branch; None removes it."""
        kept = (changed if one == branch else one for one in self._shown.content.archived)
        self._set_archived(tuple(one for one in kept if one is not None))
        self._set_modified(modified=True)

    def _set_archived(self, archived: tuple[ArchivedBranch, ...]) -> None:
        if archived != self._shown.content.archived:
            self._change(archived=archived)
            self.archived_changed.emit()

    def replace(self, content: DocumentFile, path: Path | None = None, *, modified: bool = False) -> None:
        """Replace the document.

        Args:
            content: the new content.
            path: its file; None if it has none.
            modified: whether it has unsaved edits.
        """
        self._timer.stop()
        at = self._documents.index(self._shown)
        self._shown = self._documents[at] = _opened(self._shown.autosave, content, path, modified=modified)
        self._autosave_or_discard()
        self._announce()

    def _autosave_or_discard(self) -> None:
        """Delete the autosave of a document without unsaved work, unless it is one of several: they return together."""
        if self._shown.has_work or len(self._documents) >= _SEVERAL:
            self._autosave_soon()
        else:
            self._shown.autosave.discard()

    def _announce(self) -> None:
        """Report that another document is shown."""
        self._revision += 1
        self.replaced.emit()
        self.changed.emit(self._revision)
        self.title_changed.emit()

    def open(self, path: Path, *, beside: bool = False) -> int:
        """Open a file; without its secrets, whose number is returned.

        Args:
            path: the file.
            beside: whether the shown document stays open behind it.

        Raises:
            DocumentError: the current document stays as it is.
        """
        content, removed = without_secrets(file.read_document(path))
        self.begin(content, path, modified=removed > 0, beside=beside)
        return removed

    def begin(
        self, content: DocumentFile, path: Path | None = None, *, modified: bool = False, beside: bool = False
    ) -> None:
        """Show a new document.

        Args:
            content: its content.
            path: its file; None if it has none.
            modified: whether it has unsaved edits.
            beside: whether the shown document stays open behind it.
        """
        if beside:
            self.show(self.add(content, path, modified=modified))
        else:
            self.replace(content, path, modified=modified)

    def save(self, path: Path) -> None:
        """Write to a file, which becomes the document's own.

        Raises:
            DocumentError: the document stays open and modified.
        """
        file.write_document(path, self._shown.content)
        self._shown.path, self._shown.stamp = path, _stamp_of(path)
        self._shown.saved_grammar, self._shown.saved_in = self._shown.content.grammar, path
        self._timer.stop()
        self._shown.is_modified = False
        self._autosave_or_discard()
        self.title_changed.emit()

    @property
    def autosave(self) -> Autosave:
        """Return the autosave, which also finds the leftovers of other windows."""
        return self._shown.autosave

    def recover(self, leftover: Leftover) -> None:
        """Show the autosave of a window that did not exit cleanly."""
        self._shown.autosave.take(leftover)
        saved = leftover.saved
        self.replace(saved.document, Path(saved.path) if saved.path else None, modified=leftover.has_work)

    def save_for_next_start(self, ended_by: str) -> None:
        """Autosave all documents now, and wait for it, because the process is about to end.

        Args:
            ended_by: what ends it, for the next start.
        """
        self._timer.stop()
        for one in sorted(self._documents, key=lambda one: one is self._shown):  # the latest is shown at the next start
            one.autosave_now(ended_by)
        for one in self._documents:
            one.autosave.flush()

    def close(self, *, keeps_autosave: bool = False) -> None:
        """Close all documents; delete their autosaves, unless they are kept."""
        self._timer.stop()
        for autosave in (*(one.autosave for one in self._documents), *self._spare):
            autosave.close(keeps=keeps_autosave)

    def _change(self, **changes: object) -> None:
        fields = {name: getattr(self._shown.content, name) for name in DocumentFile.__struct_fields__}
        self._shown.content = DocumentFile(**{**fields, **changes})
        self._autosave_soon()

    def _autosave_soon(self) -> None:
        """Start the timer at the first unsaved change; later changes do not restart it."""
        if not self._timer.isActive():
            self._timer.start()

    def _keep_extras(self, extras: ExampleExtras) -> None:
        """Remove or restore the extras if that changed."""
        before, self._shown.extras = self._shown.extras, extras
        if before is not None and before.are_removed != extras.are_removed:
            change = extras.removed_from if extras.are_removed else extras.restored_to
            self._shown.content = change(self._shown.content)
            self._autosave_soon()
            self.test_strings_changed.emit()
            self.title_changed.emit()

    def _touch_grammar(self) -> None:
        self._revision += 1
        self._set_modified(modified=True)
        self.changed.emit(self._revision)

    def _set_modified(self, *, modified: bool) -> None:
        if modified != self._shown.is_modified:
            self._shown.is_modified = modified
            self.title_changed.emit()

    def autosave_now(self) -> None:
        """Write the autosave without waiting for the timer."""
        self._timer.stop()
        self._shown.autosave_now()


def _stamp_of(path: Path | None) -> tuple[int, int] | None:
    """Return what distinguishes a file from a later version of it; None if there is none."""
    try:
        stat = path.stat() if path is not None else None
    except OSError:
        return None
    return None if stat is None else (stat.st_mtime_ns, stat.st_size)
