from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.models.downloads import bytes_under, run_child
from engine.source import CancelledError, CancelToken


def test_status_and_output_come_back() -> None:
    code = "import sys; print('one'); print('ERROR: two', file=sys.stderr); sys.exit(3)"
    result = run_child(["-c", code], os.environ, CancelToken(), lambda: None)
    assert result.status == 3
    assert result.last_line("ERROR:") == "ERROR: two"
    assert result.last_line("nothing") == ""


def test_a_cancelled_child_is_ended() -> None:
    cancel = CancelToken()
    with pytest.raises(CancelledError):  # which comes once the child is gone
        run_child(["-c", "import time; time.sleep(10**6)"], os.environ, cancel, cancel.cancel)


def test_the_size_of_a_folder_counts_files_below_it(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_bytes(bytes(7))
    (tmp_path / "file").write_bytes(bytes(5))
    assert bytes_under(tmp_path) == 12
    assert bytes_under(tmp_path / "missing") == 0
