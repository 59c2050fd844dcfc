"""The document that a window shows: its text, its revision, its file.

The editor owns undo; the document owns the revision, which names a state of the
text for every job that is made from it. Editing marks the document as modified;
stepping does not, but is autosaved with the rest.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from app.document import file
from app.document.autosave import Autosave, Leftover
from app.document.belongings import Belongings, belongings_of
from app.document.file import AutomatonPart, DocumentFile, GrammarPart, ModelPart
from engine.decoding.debugging.breakpoints import Breakpoint
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.values import ArchivedBranch, Chat, SamplerSettings, Trace
from engine.diagnosis.test_strings.values import ExpectedText

_AUTOSAVE_AFTER_MS = 500  # the first change that is not saved yet, whatever follows; at most a second may be lost
_FORMER_BRANCHES = 8


class Document(QObject):
    """One open document.

    Signals:
        changed(revision): the grammar's text or its reading changed.
        replaced(): another document was put in its place; panes read it anew.
        title_changed(): its path, its title or its modified flag changed.
        breakpoints_changed(): one was set, removed, or switched on or off.
        test_strings_changed(): they went or came with the grammar that they belong to; their own pane shows them anew.
        autosave_failed(reason): what is changed from now on would not survive a crash.
    """

    changed = Signal(int)
    replaced = Signal()
    title_changed = Signal()
    autosave_failed = Signal(str)
    breakpoints_changed = Signal()
    test_strings_changed = Signal()

    def __init__(self, autosave: Autosave, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._autosave = autosave
        autosave.on_failure = self.autosave_failed.emit
        self._content = DocumentFile()
        self._revision = 0
        self._path: Path | None = None
        self._stamp: tuple[int, int] | None = None  # of the file, as it was read or written here
        self._modified = False
        self._grammar_before = self._content.grammar  # the last edit
        self._belongings: Belongings | None = None
        self._drafts: dict[str, object] = {}
        self._timer = QTimer(self, singleShot=True, interval=_AUTOSAVE_AFTER_MS)
        self._timer.timeout.connect(self._autosave_now)

    @property
    def content(self) -> DocumentFile:
        """What would be saved."""
        return self._content

    @property
    def revision(self) -> int:
        """Counts the states of the grammar; never goes back."""
        return self._revision

    @property
    def path(self) -> Path | None:
        """Its file; None before it has one."""
        return self._path

    @property
    def is_modified(self) -> bool:
        """Whether closing it would lose an edit."""
        return self._modified

    @property
    def is_changed_outside(self) -> bool:
        """Whether its file is not as it was read or written here: another window or program wrote it since."""
        now = _stamp_of(self._path)
        return now is not None and now != self._stamp

    @property
    def title(self) -> str:
        """What the window calls it."""
        return self._path.stem if self._path else self._content.title or "Untitled"

    def set_text(self, text: str) -> None:
        """Take over an edit of the grammar."""
        self.set_grammar(msgspec.structs.replace(self._content.grammar, text=text))

    def set_grammar(self, grammar: GrammarPart) -> None:
        """Take over a text in another notation, or read with other options; an edit like any other."""
        if grammar != self._content.grammar:
            self._grammar_before = self._content.grammar
            self._change(grammar=grammar)
            if self._belongings is not None:
                self._keep_belongings(self._belongings.following(grammar))
            self._touch_grammar()

    def begin_anew(self) -> bool:
        """Notice that the last edit replaced the text as a whole: what belonged to an example goes with it.

        Returns:
            whether test strings went; undo of that edit brings all of it back.
        """
        found = None if self._path else belongings_of(self._content, self._grammar_before)
        if found is None:
            return False
        self._belongings = found
        self._keep_belongings(replace(found, are_away=True))
        return bool(found.expected_texts)

    def draft(self, *, prompt: str | Chat | None = None, pipeline: PipelineSettings | None = None) -> None:
        """Note what the user entered and what is not in force yet: it is autosaved, in place of what is in force."""
        for name, value in (("prompt", prompt), ("pipeline", pipeline)):
            if value is not None and value != getattr(self._content, name):
                self._drafts[name] = value
            elif value is not None:
                self._drafts.pop(name, None)
        self._autosave_soon()

    @property
    def has_drafts(self) -> bool:
        """Whether something was entered that is not in force yet."""
        return bool(self._drafts)

    def drop_draft(self, name: Literal["prompt", "pipeline"]) -> None:
        """Forget what was entered: it was refused, or is in force."""
        if self._drafts.pop(name, None) is not None:
            self._autosave_soon()

    def set_prompt(self, prompt: str | Chat) -> None:
        """Take over an edit of the prompt."""
        self.drop_draft("prompt")
        if prompt != self._content.prompt:
            self._change(prompt=prompt)
            self._set_modified(modified=True)

    def set_sampler(self, sampler: SamplerSettings) -> None:
        """Take over a change of the sampler."""
        if sampler != self._content.sampler:
            self._change(sampler=sampler)
            self._set_modified(modified=True)

    def set_max_tokens(self, max_tokens: int) -> None:
        """Take over a change of the budget."""
        if max_tokens != self._content.max_tokens:
            self._change(max_tokens=max_tokens)
            self._set_modified(modified=True)

    def set_pipeline(self, pipeline: PipelineSettings) -> None:
        """Take over a change of the stages between the model and the draw."""
        if self._drafts.get("pipeline") == pipeline:
            self.drop_draft("pipeline")
        if pipeline != self._content.pipeline:
            self._change(pipeline=pipeline)
            self._set_modified(modified=True)

    def set_expected_texts(self, texts: tuple[ExpectedText, ...]) -> None:
        """Take over an edit of the test strings."""
        if texts != self._content.expected_texts:
            self._change(test_strings=texts)
            self._set_modified(modified=True)

    def set_breakpoints(self, breakpoints: tuple[Breakpoint, ...]) -> None:
        """Take over a change of the breakpoints."""
        if breakpoints != self._content.breakpoints:
            self._change(breakpoints=breakpoints)
            self._set_modified(modified=True)
            self.breakpoints_changed.emit()

    def set_model(self, model: ModelPart) -> None:
        """Note which model the trace is of."""
        if model != self._content.model:
            self._change(model=model)

    def set_automaton(self, automaton: AutomatonPart) -> None:
        """Note what is seen of the automaton; looking at something is no edit."""
        if automaton != self._content.automaton:
            self._change(automaton=automaton)

    def set_trace(self, trace: Trace) -> None:
        """Note where the session stands."""
        if trace != self._content.trace:
            self._change(trace=trace)

    def add_former(self, branch: ArchivedBranch) -> None:
        """Keep what another prompt or another model put aside; the oldest of many is forgotten."""
        others = [former for former in self._content.former if former != branch]
        self._change(former=(branch, *others)[:_FORMER_BRANCHES])

    def replace(self, content: DocumentFile, path: Path | None = None, *, modified: bool = False) -> None:
        """Show another document."""
        self._timer.stop()
        self._drafts.clear()
        self._content, self._path, self._stamp = content, path, _stamp_of(path)
        self._belongings = None
        self._revision += 1
        self._modified = modified
        if modified:
            self._autosave_soon()
        else:
            self._autosave.discard()
        self.replaced.emit()
        self.changed.emit(self._revision)
        self.title_changed.emit()

    def open(self, path: Path) -> None:
        """Open a file in place of the present document.

        Raises:
            DocumentError: the present document stays as it is.
        """
        self.replace(file.read(path), path)

    def save(self, path: Path) -> None:
        """Write to a file, which becomes the document's own.

        Raises:
            DocumentError: the document stays open and modified.
        """
        file.write(path, self._content)
        self._path, self._stamp = path, _stamp_of(path)
        self._timer.stop()
        self._autosave.discard()
        if self._drafts:
            self._autosave_soon()
        self._modified = False
        self.title_changed.emit()

    @property
    def autosave(self) -> Autosave:
        """The autosave, which also finds what other windows left behind."""
        return self._autosave

    def recover(self, leftover: Leftover) -> None:
        """Show work that a window left behind which did not end cleanly."""
        self._autosave.take(leftover)
        saved = leftover.saved
        self.replace(saved.document, Path(saved.path) if saved.path else None, modified=True)

    def save_for_next_start(self, ended_by: str) -> None:
        """Autosave now, and wait for it: the process is about to be ended.

        Args:
            ended_by: what ends it, for the next start.
        """
        self._autosave_now(ended_by)
        self._autosave.flush()

    def close(self, *, keeps_autosave: bool = False) -> None:
        """End; nothing is to be recovered, unless the autosave is kept."""
        self._timer.stop()
        self._autosave.close(keeps=keeps_autosave)

    def _change(self, **changes: object) -> None:
        fields = {name: getattr(self._content, name) for name in DocumentFile.__struct_fields__}
        self._content = DocumentFile(**{**fields, **changes})
        self._autosave_soon()

    def _autosave_soon(self) -> None:
        """Start the clock of the first change that is not saved yet; later ones do not set it back."""
        if not self._timer.isActive():
            self._timer.start()

    def _keep_belongings(self, belongings: Belongings) -> None:
        """Let them go or come where that changed."""
        before, self._belongings = self._belongings, belongings
        if before is not None and before.are_away != belongings.are_away:
            move = belongings.taken_from if belongings.are_away else belongings.given_to
            self._content = move(self._content)
            self._autosave_soon()
            self.test_strings_changed.emit()
            self.title_changed.emit()

    def _touch_grammar(self) -> None:
        self._revision += 1
        self._set_modified(modified=True)
        self.changed.emit(self._revision)

    def _set_modified(self, *, modified: bool) -> None:
        if modified != self._modified:
            self._modified = modified
            self.title_changed.emit()

    def _autosave_now(self, ended_by: str = "") -> None:
        self._timer.stop()
        self._autosave.save(msgspec.structs.replace(self._content, **self._drafts), self._path, ended_by=ended_by)


def _stamp_of(path: Path | None) -> tuple[int, int] | None:
    """What tells a file from a later one of the same name; None where there is none."""
    try:
        stat = path.stat() if path is not None else None
    except OSError:
        return None
    return None if stat is None else (stat.st_mtime_ns, stat.st_size)
