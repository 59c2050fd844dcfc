"""Regular expressions: from text to grammar nodes and findings.

The `python` dialect differs from CPython's `re` where the language matters rather than the matcher:

- a lookbehind may have any width, since it is regular;
- `\\B` matches the empty text, as documented and as `re` does since 3.14;
- `(?a)` restricts `(?i)` to ASCII everywhere; `re` does not in ranges beyond U+FFFF;
- possessive and atomic forms are accepted where they define a set of strings (see `atomic`), backreferences and
conditionals are refused.
"""

from engine.notations.regex.dialect import Dialect
from engine.notations.regex.parser import RegexGroup, SourceDetails, parse, parse_with_details

__all__ = ["Dialect", "RegexGroup", "SourceDetails", "parse", "parse_with_details"]
