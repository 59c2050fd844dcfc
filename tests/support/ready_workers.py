"""Imports and loads what worker processes need; see `forked_workers`."""

from __future__ import annotations

import gc
import importlib
import pkgutil

import engine
from app.workers.layout import LayoutHandler

# All of the engine, since most jobs import something with their first use; torch and Qt are none of it.
NOT_USED = ("engine.cli", "engine.export.runtimes", "engine.peers")
for module in pkgutil.walk_packages(engine.__path__, "engine."):
    if not module.name.startswith(NOT_USED):
        importlib.import_module(module.name)
for name in ("app.graph.layout.layered", "model_doubles", "networkx"):
    importlib.import_module(name)
engine.warm(wait=True)
LayoutHandler().warm()
gc.freeze()  # else the first collection of every copy would write to all of it
