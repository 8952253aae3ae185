"""Slurm: one batch script for each job of the plan, and a program that submits them in order."""

from __future__ import annotations

from renderers.slurm.tree import render

__all__ = ["render"]
