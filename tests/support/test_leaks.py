import subprocess
import sys
import threading

from leaks import Running, leaks


def test_a_thread_that_stays_is_found():
    before = Running.now()
    done = threading.Event()
    thread = threading.Thread(target=done.wait, name="stayer")
    thread.start()
    assert leaks(before, grace=0.01) == ["thread 'stayer'"]
    done.set()
    thread.join()
    assert leaks(before) == []


def test_a_process_that_stays_is_found():
    before = Running.now()
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    (line,) = leaks(before, grace=0.01)
    assert line.startswith(f"process {process.pid}: ")
    process.communicate(b"\n")
    assert leaks(before) == []


def test_what_was_there_before_is_no_leak():
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    assert leaks(Running.now(), grace=0.01) == []
    done.set()
    thread.join()
