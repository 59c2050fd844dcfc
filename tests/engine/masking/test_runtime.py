"""Loading kernels, in processes of their own: each starts without them."""

import os
import subprocess
import sys
import textwrap

import pytest

SET_UP = """
import os, sys, threading
import engine
from engine import Matcher, Vocabulary, compile_grammar
from engine.masking.jit import loaded_kernels

def mask():
    return Matcher(compile_grammar("regex", "[a-z]*"), Vocabulary([b"a", b"A", b"ab"], [])).bitmask().tolist()
"""


def run(code, **environment):
    script = textwrap.dedent(SET_UP) + textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
        env={**os.environ, **{name: str(value) for name, value in environment.items()}},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_masks_need_no_kernels():
    assert run("print(mask() == [5], 'numba' in sys.modules)") == ["True", "False"]


def test_warming_in_the_background():
    code = """
    engine.warm(wait=False)
    engine.warm(wait=False)
    print(sum(thread.name == "turnstile-kernels" for thread in threading.enumerate()), mask() == [5])
    engine.warm(wait=True)
    engine.clear_caches()
    print(loaded_kernels() is not None, mask() == [5])
    """
    assert run(code) == ["1", "True", "True", "True"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_waits_for_the_kernels():
    code = """
    engine.warm(wait=False)
    while not threading.main_thread().is_alive() or "numba" not in sys.modules:
        pass
    child = os.fork()
    if child == 0:
        engine.warm()
        os._exit(0 if loaded_kernels() is not None and mask() == [5] else 1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert run(code) == ["0"]


def test_kernels_are_kept_in_the_user_s_cache(tmp_path):
    code = "import numba; engine.warm(); print(mask() == [5], numba.config.CACHE_DIR or 'unchanged')"
    environment = {"XDG_CACHE_HOME": tmp_path, "HOME": tmp_path, "LOCALAPPDATA": tmp_path, "NUMBA_CACHE_DIR": ""}
    assert run(code, **environment) == ["True", "unchanged"]
    assert any(tmp_path.rglob("*.nbi"))


def test_a_home_that_cannot_be_written(tmp_path):
    """Then nothing is kept. That kernels come without a cache, too, is what a full disk shows."""
    obstacle = tmp_path / "file"
    obstacle.touch()
    code = """
    from engine.masking import jit
    jit._compile = lambda directory: print(directory)
    engine.warm()
    print(mask() == [5])
    """
    environment = {"XDG_CACHE_HOME": obstacle, "HOME": obstacle, "LOCALAPPDATA": obstacle, "NUMBA_CACHE_DIR": ""}
    assert run(code, **environment) == ["None", "True"]


def test_a_disk_that_is_full(tmp_path):
    code = """
    from numba.core.caching import FunctionCache

    def full(*args):
        raise OSError(28, "No space left on device")

    FunctionCache.save_overload = full
    engine.warm()
    print(loaded_kernels() is not None, mask() == [5])
    """
    assert run(code, NUMBA_CACHE_DIR=tmp_path) == ["True", "True"]
