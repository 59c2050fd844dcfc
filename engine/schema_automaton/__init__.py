"""JSON Schema as a pushdown automaton over bytes, in four layers.

1. `formula`: what a value must satisfy. Keywords are lowered to a boolean formula over a few kinds of assertion
   (`nodes`), interned by an `Arena`; recursion is a `Ref` to a numbered definition. A *goal* is a formula that a value
   has to satisfy.
2. `solver`: which values satisfy a goal. `SchemaSolver` projects a goal to one JSON type (`normal_form`), decides
   whether any value satisfies it, and gives its *entry states*: a literal's type, a language of strings or numbers, or
   the start of an `ArrayMachine` or `ObjectMachine`. A machine is one conjunction of assertions; what it requires of an
   item or a member is again a goal. Machines know their solver as a `Solver` protocol, so imports go one way.
3. `lexing`: how bytes become symbols. A `JsonLexer` reads a regular language (white space, a string, a key, a number)
   until a symbol ends the lexeme. Its states are rows of one integer table per grammar (`LexerTable`). What depends on
   the kind of lexer is a method of it.
4. `pushdown`: `FrameTable` and `JsonAutomaton`, the `ByteAutomaton` that a matcher steps; `SourceMap` maps frames back
   to source locations.

`string_languages`, `number_languages` and `json_encoding` are the automata of scalars that layers 2 and 3 share. A
layer imports only layers before it in this list (contract `schema-layers`).

**Configuration**: a stack of frames, the lexer state of the top frame, and, only where it matters, the text of an open
item or key. Stacks are paths in a tree of nodes `(frame, node below, start of the recorded text)`. Configurations are
interned as integers. After `{"a":1`, read for `{"properties": {"a": {"type": "integer"}}}`, the stack is, top first,

    NUMBER   the language of integers
    VALUE    the transition of the object's machine for the member "a"
    ROOT     the goal of the whole text

**Frame**: one nesting level: a `ParsePosition` and its *alternatives*. An alternative is a machine's state or
transition, a language or a literal's type, with a bit set of the alternatives of the frame below that it belongs to.
So `anyOf` is followed side by side, and alternatives do not multiply with depth.

**Action**: what happens to the stack when a symbol ends the lexeme of the top frame (`engine.automata.actions`): STAY
replaces the frame, PUSH replaces it and opens a value above, POP ends the value. POP carries the number of an ending,
the set of alternatives below whose value is satisfied; the frame below continues with these (`return_action`). An
action with REREAD leaves its byte, the one that ends a number, to the next frame. Instead of an action, NEEDS_TEXT says
that the text itself decides.

**Liveness**: a configuration is live if some text completes it. Only live configurations have a number other than 0
(`DEAD`). Liveness is decided where an alternative is made: machines give only transitions whose goal is satisfiable and
whose next state can be completed, and languages give only states with a completion. What a machine requires does not
depend on the rest of the stack, so a stack is live if each frame is, and no search goes down the stack.

**Provisional answer**: satisfiability is a least fixed point over recursive schemas. A goal whose check is in progress
counts as unsatisfiable, so a negative answer below it may be wrong. `provisional_epoch` grows whenever an answer rests
on such a goal; a negative answer or a list of transitions is memoised only if it did not grow meanwhile
(`provisional_memo`). Positive answers are final, and so are those of the outermost check.

Invariants:

- Every frame but `DEAD` has an alternative, and every alternative can be completed.
- Frames, lexer states and actions do not depend on the stack below. So an action is computed once for every depth, and
  a mask depends on as many frames as the longest token can close.
- The text matters only for items that must differ, keys that may not come twice, and A-labels of host names. Nodes
  record where it begins. Shared actions go on with an unknown value as long as every value can be completed, and are
  NEEDS_TEXT otherwise.
- Bytes alone determine the nesting (visibly pushdown), so a configuration has one stack.
- Equal formulas are one object (except of `Arena.separate_type_in`). Results are memoised by identity; `SourceMap`
  tells the source locations apart.
- Machines refer to the solver weakly, and it keeps their results: without reference cycles, an unused grammar is freed
  at once.
- The rows of the shared lexers come first in every table, so any string has the same lexer states in all grammars with
  the same white space and escapes.
- Lexer states are only renumbered by `evict_states`, between walks; `generation` counts that.
- A search that exceeds a limit raises `LimitExceededError` with its numbers. An assertion that cannot be decided is an
  `UndecidedError` at compile time (`precheck`); found later, it counts as unsatisfiable. There are no guesses.
"""
