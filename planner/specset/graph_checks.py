"""Circles: of jobs that wait for each other, and of teams that are each other's parents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from planner.specset.faults import Faults, also
from planner.specset.tree import Tree


def check(tree: Tree, faults: Faults) -> None:
    """Report every circle once, at its first member by name."""
    _teams(tree, faults)
    _jobs(tree, faults)


def _teams(tree: Tree, faults: Faults) -> None:
    teams = {item.spec.name: item for item in tree.teams}
    for circle in circles({name: (item.spec.parent,) if item.spec.parent else () for name, item in teams.items()}):
        item = teams[circle[0]]
        faults.add(
            "SPEC404", item, ("parent",), f"teams are parents of each other: {' -> '.join((*circle, circle[0]))}",
            help="remove one of the parents",
            related=tuple(also(teams[name], "parent", message=f"{name} has this parent") for name in circle[1:]),
        )  # fmt: skip


def _jobs(tree: Tree, faults: Faults) -> None:
    jobs = {f"{item.spec.team}/{item.spec.name}": item for item in tree.jobs}
    for circle in circles({name: item.spec.after for name, item in jobs.items()}):
        item = jobs[circle[0]]
        faults.add(
            "SPEC403", item, ("after",), f"jobs wait for each other: {' -> '.join((*circle, circle[0]))}",
            help="remove one of the references",
            related=tuple(also(jobs[name], "after", message=f"{name} waits here") for name in circle[1:]),
        )  # fmt: skip


def circles(edges: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """One circle for each strongly connected part of a graph that has any, beginning with its least node.

    Without recursion: chains of dependent jobs may be thousands long.
    """
    remaining = {node: [target for target in targets if target in edges] for node, targets in edges.items() if targets}
    done: set[str] = set()
    for start in sorted(remaining):
        if start in done:
            continue
        trail: list[str] = [start]
        position = {start: 0}
        pending = [iter(remaining.get(start, ()))]
        while pending:
            target = next((node for node in pending[-1] if node not in done), None)
            if target is None:
                pending.pop()
                done.add(trail.pop())
            elif target in position and position[target] < len(trail) and trail[position[target]] == target:
                circle = trail[position[target] :]
                least = circle.index(min(circle))
                yield (*circle[least:], *circle[:least])
                done.update(circle)
                break
            else:
                position[target] = len(trail)
                trail.append(target)
                pending.append(iter(remaining.get(target, ())))
