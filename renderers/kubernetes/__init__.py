"""Kubernetes: queues and quotas of Kueue, and a suspended batch Job for each job of the plan."""

from __future__ import annotations

from renderers.kubernetes.tree import render
from renderers.kubernetes.verify import verify

__all__ = ["render", "verify"]
