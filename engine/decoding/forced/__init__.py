"""Forced text and fast-forward: where a grammar leaves no choice, the text is known before the model is queried.

The known part is a text, but a model reads tokens: `name` is one token, or four, or something in between, and the
model's next prediction depends on which. So a forced run is found by bytes (`merging`; for JSON up to formatting,
`compact_json`), tokenised in every way that the vocabulary permits (`lattice`) and as the tokenizer would
(`tokenizer_encoding`). A model compares the encodings (`encodings`), and one of the `strategies` picks the tokens
when `engine.decoding.fast_forward` advances a session. `PipelineSettings.forced` names the strategy of a session.

Source: R. Louf, "Coalescence: making LLM inference 5x faster", 2024; for the ends of a run, "token healing" as in
guidance (S. Lundberg, 2023).

`values` and `merging` hold what the window receives and do not import numpy; nothing is imported here.
"""
