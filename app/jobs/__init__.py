"""Requests to the worker processes: job groups with cancellation, in which late answers are dropped."""

from app.jobs.garbage import GarbageCollector
from app.jobs.group import KILLED_AFTER_GRACE, JobGroup, Loss, LostRequest, PendingAnswer, Policy
from app.jobs.link import WorkerLink

__all__ = [
    "KILLED_AFTER_GRACE",
    "GarbageCollector",
    "JobGroup",
    "Loss",
    "LostRequest",
    "PendingAnswer",
    "Policy",
    "WorkerLink",
]
