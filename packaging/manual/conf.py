"""Settings of Sphinx for the manual, which `make manual` builds from `resources/manual` without the network."""

from __future__ import annotations

from importlib.metadata import version as installed_version
from typing import Final

project: Final = "Turnstile"
author: Final = "The Turnstile developers"
version: Final = installed_version("token-turnstile")
release: Final = version
copyright: Final = author  # noqa: A001 - the name that Sphinx reads
language: Final = "en"
default_role: Final = "code"

extensions: Final = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions: Final = ["attrs_inline", "deflist"]
myst_heading_anchors: Final = 3
exclude_patterns: Final = ["html", "**/__pycache__"]

autodoc_typehints: Final = "signature"
autodoc_member_order: Final = "bysource"
napoleon_numpy_docstring: Final = False
# Signatures are written as the source has them, not with values and modules in full.
autodoc_preserve_defaults: Final = True
python_use_unqualified_type_names: Final = True

html_theme: Final = "furo"
html_title: Final = f"Turnstile {version}"
html_static_path: Final = ["static"]
html_css_files: Final = ["manual.css"]
html_logo: Final = "../../resources/icons/turnstile.svg"
html_favicon: Final = "../../resources/icons/turnstile.svg"
html_copy_source: Final = False
html_show_sourcelink: Final = False
