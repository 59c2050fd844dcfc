"""Coalescence: where a grammar leaves no choice, the text is known before the model is asked.

What is known is a text, and a model reads tokens: `name` is one token, or four, or
six things in between, and what a model says next depends on which. So a forced run
is found by bytes (`merging`; of JSON but for the ways to write it, `forced`), spelled in
every way that the vocabulary has (`lattice`), as the tokenizer itself would (`spelling`),
the ways are held against each other on a model (`outlook`), and one of them is taken
(`strategies`) where a session is stepped (`coalescer`) or a whole text is generated
(`running`). How a session is stepped is `PipelineSettings.coalesce`.

Source: R. Louf, "Coalescence: making LLM inference 5x faster", 2024, and for the
boundaries of a run "token healing" as in guidance (S. Lundberg, 2023).

What crosses to the window is in `values` and `merging`, which import no numpy; nothing
is imported here.
"""
