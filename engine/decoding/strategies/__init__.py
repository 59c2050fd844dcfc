"""Strategies that draw texts of a model under a grammar: which distribution each has, and what it costs.

The target of all is p(text | grammar): the model's own distribution, given that the text is in the language. Engines
mask token by token, which has another one (`decoders.local`). What strategies share is here: a tree of the model's
answers (`prefix_tree`), the exact distribution of a small language (`exact`), and a run with its numbers (`sampling`).
The strategies themselves are the modules of `decoders`.

A text is complete after an EOS token. A vocabulary without one ends it as a decode session does (`StopRule`). A text
that needs more tokens than the limit is not in the language: so every language is finite, and the mass of what is too
long counts as refused.
"""
