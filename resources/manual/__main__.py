"""Write generated pages: `python -m resources.manual [NAME…]`."""

import sys
from pathlib import Path

from resources.manual.generated import GENERATED

if __name__ == "__main__":
    for name in sys.argv[1:] or GENERATED:
        Path(__file__).with_name(f"{name}.md").write_text(GENERATED[name](), "utf-8")
