"""Requests to the worker processes: one live job per group, cancelled politely, late answers dropped."""

from app.jobs.garbage import GarbageCollector
from app.jobs.group import JobGroup, Policy
from app.jobs.link import WorkerLink

__all__ = ["GarbageCollector", "JobGroup", "Policy", "WorkerLink"]
