"""One decision: the model's distribution, the effect of mask and sampler, and its display."""
