"""Other engines, for comparison: adapters to those that are installed, and the bench that runs them side by side.

None of them is needed for anything else. Importing this room loads no engine;
each is loaded in the child process that measures it.
"""

from engine.peers.bench import run_bench
from engine.peers.bench_cases import BenchCase, CasesError, LabelledText, read_cases
from engine.peers.measurements import CaseMeasured, EngineMeasured
from engine.peers.registry import PEERS, UnknownPeerError, find_peers
from engine.peers.report import Comparison, compare

__all__ = [
    "PEERS",
    "BenchCase",
    "CaseMeasured",
    "CasesError",
    "Comparison",
    "EngineMeasured",
    "LabelledText",
    "UnknownPeerError",
    "compare",
    "find_peers",
    "read_cases",
    "run_bench",
]
