"""The grammar's mask, and the zones of the output that it constrains."""

from engine.decoding.stage import Field, Stage

STAGE = Stage("grammar", (Field("zones", "zones", None, "--zones"),), has_switch=False)
