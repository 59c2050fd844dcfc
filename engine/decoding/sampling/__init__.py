"""One decision: what the model wanted, what mask and sampler make of it, and how it is shown."""
