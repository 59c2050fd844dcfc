"""JSON as it is read, byte by byte, by what its values must satisfy.

From a schema to its runtime, each file or package needs the ones before it:

- `values`, `whitespace`: what JSON values are, and the blanks between them.
- `formula`, `arena`: what a value must satisfy, as a boolean formula, and where formulas are made.
- `specialise`: a formula for one kind of value, as alternatives.
- `strings`, `numbers`, `arrays`, `objects`: what an alternative comes to for each kind.
- `goals`: all of these together, and whether any value satisfies a formula; `explore` asks that ahead of time.
- `reading`: what one level reads until it ends, as rows of a table; `marked` and `keys` are readers of names, and
  `readers` chooses among them.
- `levels`: what a level of a text may be at, and what becomes of it where its reading ends.
- `runtime`: the stack of levels, as the `Runtime` that a matcher knows.
- `endings`, `completion`, `property_names`: what is told of where a match stands.
"""
