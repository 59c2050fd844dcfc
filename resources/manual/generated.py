"""The pages of the manual that are generated: `python -m resources.manual` writes all of them, or those that it names.

A test fails if a page is not what its function returns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from resources.manual.write_causes import causes_page
from resources.manual.write_commands import commands_page
from resources.manual.write_diagnostics import diagnostics_page
from resources.manual.write_file_format import file_format_page
from resources.manual.write_keys import keys_page
from resources.manual.write_syntax import syntax_page
from resources.manual.write_targets import targets_page

GENERATED: Final[Mapping[str, Callable[[], str]]] = {
    "causes": causes_page,
    "commands": commands_page,
    "diagnostics": diagnostics_page,
    "file-format": file_format_page,
    "keys": keys_page,
    "syntax": syntax_page,
    "targets": targets_page,
}
"""The names of the pages, and the functions that return their Markdown."""
