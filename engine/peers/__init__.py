"""Benchmark of other constrained-decoding engines: adapters, and a runner that compares them with Turnstile.

The engines are optional and used for nothing else. Importing this package loads none
of them; each is loaded in the child process that measures it.
"""

from engine.peers.bench import run_bench
from engine.peers.bench_cases import BenchCase, CasesError, LabelledText, read_cases
from engine.peers.registry import PEERS, UnknownPeerError, find_peers
from engine.peers.report import CaseMeasurement, Comparison, EngineMeasurements, compare

__all__ = [
    "PEERS",
    "BenchCase",
    "CaseMeasurement",
    "CasesError",
    "Comparison",
    "EngineMeasurements",
    "LabelledText",
    "UnknownPeerError",
    "compare",
    "find_peers",
    "read_cases",
    "run_bench",
]
