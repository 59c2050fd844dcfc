"""From grammar nodes to byte automata: lazy for matching, minimal for drawing and export.

`dfa` and `labels` are plain values, which the window may hold; `lazy` is the runtime.
"""
