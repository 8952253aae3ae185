"""The four priorities, and their names in a cluster."""

from __future__ import annotations

from typing import Any, Final

from planner.spec.envelope import Priority

PRIORITIES: Final = (
    (Priority.P0, 4_000, "core business"),
    (Priority.P1, 3_000, "important"),
    (Priority.P2, 2_000, "normal"),
    (Priority.P3, 1_000, "experiment"),
)
_BELOW: Final = 100
"""KAI takes what has at least this priority for work that never yields; whether it does is said apart."""


def priority_class(priority: str) -> str:
    """The name of the object that stands for a priority."""
    return f"planner-{priority.lower()}"


def pod_priority(priority: Priority, value: int, description: str) -> dict[str, Any]:
    """A priority class of pods: it orders them in the queues of KAI and Volcano, and evicts nobody by itself."""
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {
            "name": priority_class(priority),
            "labels": {"app.kubernetes.io/managed-by": "gpu-fleet-planner"},
        },
        "value": value // _BELOW,
        "preemptionPolicy": "Never",
        "description": description,
    }
