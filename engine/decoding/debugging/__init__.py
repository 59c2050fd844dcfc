"""Where a run stops, and what a step did: breakpoints, goals, rules entered and left, the twin without a grammar."""
