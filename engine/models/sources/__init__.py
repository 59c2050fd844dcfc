"""The kinds of logit sources: each module of this package declares one as `SOURCE`."""
