"""Requests to the worker processes: one live job per group, cancelled politely, late answers dropped."""

from app.jobs.group import JobGroup, Policy
from app.jobs.link import WorkerLink

__all__ = ["JobGroup", "Policy", "WorkerLink"]
