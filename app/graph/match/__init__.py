"""Match the states of two drawings, fold chains, find paths and regions."""
