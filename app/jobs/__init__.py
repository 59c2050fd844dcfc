"""Requests to the worker processes: job groups with cancellation, in which late answers are dropped."""

from app.jobs.garbage import GarbageCollector
from app.jobs.group import JobGroup, Policy
from app.jobs.link import WorkerLink

__all__ = ["GarbageCollector", "JobGroup", "Policy", "WorkerLink"]
