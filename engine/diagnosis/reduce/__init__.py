"""Delta debugging: the smallest grammar or request that still shows a failure, and the part of it that is guilty.

A check decides whether a candidate still fails. Candidates are made by `minimise` (Zeller and Hildebrandt, "Simplifying
and isolating failure-inducing input", 2002), applied to the parts of a text from the largest to the smallest
(Misherghi and Su, "HDD: hierarchical delta debugging", 2006).
"""
