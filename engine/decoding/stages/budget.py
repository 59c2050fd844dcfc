"""Only tokens after which the grammar can end within the budget."""

from engine.decoding.stage import Field, Stage

STAGE = Stage("budget", (Field("budget", "budget", False, "--within-budget"),))
