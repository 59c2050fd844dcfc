"""`python -m engine.cli`: the subcommands of `turnstile`, without the window."""

import sys

from engine.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
