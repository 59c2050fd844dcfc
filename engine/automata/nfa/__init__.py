"""Non-deterministic programs: threads with stacks, left-corner closures, lookaround, lazy determinisation."""
