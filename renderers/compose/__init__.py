"""Compose: one project for each host, in which each job of the plan is a service with its own devices."""

from __future__ import annotations

from renderers.compose.tree import render

__all__ = ["render"]
