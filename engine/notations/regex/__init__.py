"""Regular expressions: text to grammar nodes and findings about the text.

The `python` dialect departs from CPython's `re` where a language is concerned
rather than a matcher:

- a lookbehind may have any width, since all of it is regular;
- `\\B` matches the empty text, as documented and as `re` does since 3.14;
- `(?a)` keeps `(?i)` to ASCII everywhere; `re` forgets it in ranges beyond U+FFFF;
- possessive and atomic forms are taken where they are a set of strings (see `atomic`), backreferences and
  conditionals are refused.
"""

from engine.notations.regex.dialect import Dialect
from engine.notations.regex.parser import RegexGroup, Written, parse, parse_written

__all__ = ["Dialect", "RegexGroup", "Written", "parse", "parse_written"]
