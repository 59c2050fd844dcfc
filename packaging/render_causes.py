"""Draws the output check for every cause of the manual's page of causes, in light and dark, to be looked at.

    .venv/bin/python packaging/render_causes.py FOLDER

The window has real workers and the bundled model with a token for every byte. The pictures are not committed.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from real_window import real_windows, wait

SETTLE_MS = 400


def main(folder: Path) -> None:
    """Draw them all, and print the cause, the seconds and the sentence of each."""
    folder.mkdir(parents=True, exist_ok=True)
    for look, window in real_windows(1280, 720):
        from app.document import DocumentFile, GrammarPart, ModelPart
        from app.settings import BYTE_MODEL
        from engine.diagnosis.failures.diagnosis import Cause
        from resources.manual.write_causes import example_case

        window.begin(None)
        for cause in Cause:
            case = example_case(cause)
            if case is None or not case.constraints:
                continue
            grammar = GrammarPart(case.constraints[0].notation, case.constraints[0].text)
            start = time.monotonic()
            document = DocumentFile(title=cause, grammar=grammar, model=ModelPart(spec=BYTE_MODEL))
            window.session.document.replace(document)
            window.output_check.check_case(case)
            dialog = window.output_check.open()
            wait(dialog.cause.isVisible, SETTLE_MS)
            dialog.grab().save(str(folder / f"{cause}-{look}.png"))
            print(f"{dialog.cause.text()} {time.monotonic() - start:.2f} s: {dialog.sentence}")
            dialog.reject()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
