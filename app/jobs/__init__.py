"""Requests to the worker processes: job groups with cancellation, in which late answers are dropped."""

from app.jobs.garbage import GarbageCollector
from app.jobs.group import KILLED_AFTER_GRACE, Asked, JobGroup, Loss, LostRequest, Policy
from app.jobs.link import WorkerLink

__all__ = ["KILLED_AFTER_GRACE", "Asked", "GarbageCollector", "JobGroup", "Loss", "LostRequest", "Policy", "WorkerLink"]
