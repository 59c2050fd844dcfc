#!/bin/sh
# Prints a Python that Turnstile runs on, or says what to install. Only `sh` is certain to be on a fresh machine, so
# this much is no Python. `PYTHON=/path/to/python make run` chooses one by hand.
set -u

fits() {
    "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' >/dev/null 2>&1
}

if [ -n "${PYTHON:-}" ]; then
    if fits "$PYTHON"; then
        echo "$PYTHON"
        exit 0
    fi
    echo "PYTHON=$PYTHON is not a Python from 3.11 to 3.14 that runs here." >&2
    exit 1
fi

for candidate in python3 python3.13 python3.12 python3.11 python3.14; do
    if command -v "$candidate" >/dev/null 2>&1 && fits "$candidate"; then
        echo "$candidate"
        exit 0
    fi
done

{
    echo "Turnstile needs Python 3.11, 3.12, 3.13 or 3.14, and there is none on the path. To install one:"
    echo "  Debian, Ubuntu:  apt-get install python3 python3-venv    (Debian 12, Ubuntu 24.04 and later have it)"
    echo "  Fedora:          dnf install python3"
    echo "  macOS:           brew install python@3.13, or the installer from python.org"
    echo "A Python elsewhere is taken with PYTHON=/path/to/python make run."
} >&2
exit 1
