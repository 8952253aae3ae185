"""The cross-file stage: what no document shows alone."""

from __future__ import annotations

from planner.specset import fleet_checks, graph_checks, policy_checks, quota_checks, work_checks
from planner.specset.faults import Faults
from planner.specset.tree import Tree


def check(tree: Tree, faults: Faults) -> None:
    """Report everything about a tree that can never hold or never work."""
    policy_checks.check(tree, faults)
    fleet_checks.check(tree, faults)
    graph_checks.check(tree, faults)
    if not faults.stop:
        quota_checks.check(tree, faults)
        work_checks.check(tree, faults)
