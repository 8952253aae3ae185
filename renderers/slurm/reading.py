"""Reading scripts back, more strictly than Slurm does, and holding them against the plan."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from planner.hosts import expand
from planner.units import parse_time

if TYPE_CHECKING:
    from renderers.payload import Payload

_LINE: Final = re.compile(
    r"#SBATCH --(?P<name>[a-z][a-z-]*[a-z])(?:=(?P<value>[A-Za-z0-9_\[][A-Za-z0-9_.,:/@=+&|\[\]-]*))?"
)
_SEPARATOR: Final = "#SBATCH hetjob"
FLAGS: Final = frozenset({"exclusive", "no-requeue", "requeue"})
VALUED: Final = frozenset(
    {
        "account",
        "begin",
        "comment",
        "constraint",
        "cpus-per-task",
        "exclude",
        "export",
        "gpus-per-node",
        "gres",
        "job-name",
        "mem",
        "nodelist",
        "nodes",
        "ntasks-per-node",
        "open-mode",
        "partition",
        "qos",
        "signal",
        "time",
    }
)
REQUIRED: Final = frozenset(
    {"account", "begin", "comment", "job-name", "nodes", "ntasks-per-node", "partition", "qos", "time"}
)
TOGETHER_NEVER: Final = (
    frozenset({"requeue", "no-requeue"}),
    frozenset({"nodelist", "exclude"}),
    frozenset({"mem", "mem-per-cpu", "mem-per-gpu"}),
)
"""Options of which a script has at most one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """The directives of one component, by name; a flag has no value."""

    options: tuple[tuple[str, str | None], ...]

    def get(self, name: str) -> str | None:
        """The value of an option; None for a flag and for what is absent."""
        return dict(self.options).get(name)

    def has(self, name: str) -> bool:
        """Whether the option is there."""
        return name in dict(self.options)

    def gpus(self) -> tuple[tuple[str | None, int], ...]:
        """What the component asks of each node: types and numbers of devices."""
        items = [item.split(":")[1:] for item in (self.get("gres") or "").split(",") if item.startswith("gpu:")]
        items += [item.split(":") for item in (self.get("gpus-per-node") or "").split(",") if item]
        return tuple((item[0] if len(item) > 1 else None, int(item[-1])) for item in items)


def components(script: str) -> tuple[Component, ...]:
    """The directives of a script; raises `ValueError` for a line that is not of the form that is written here.

    As Slurm does, reading ends at the first line that is neither blank nor a comment.
    """
    first, *lines = script.split("\n")
    if first != "#!/bin/bash":
        raise ValueError("a script begins with #!/bin/bash")
    found: list[list[tuple[str, str | None]]] = [[]]
    for line in lines:
        if line and not line.startswith("#"):
            break
        if line == _SEPARATOR:
            found.append([])
        elif line.startswith("#SBATCH"):
            found[-1].append(_option(line))
    return tuple(_component(options) for options in found)


def _option(line: str) -> tuple[str, str | None]:
    match = _LINE.fullmatch(line)
    if match is None:
        raise ValueError(f"'{line}' is not a plain directive")
    name, value = match["name"], match["value"]
    if name not in (FLAGS if value is None else VALUED):
        raise ValueError(f"'{line}' is not an option that is written here")
    return name, value


def _component(options: list[tuple[str, str | None]]) -> Component:
    names = [name for name, _ in options]
    if len(set(names)) < len(names) or not REQUIRED.issubset(names):
        raise ValueError("a script has each option once, and all that every job needs")
    for group in TOGETHER_NEVER:
        if len(group.intersection(names)) > 1:
            raise ValueError(f"{' and '.join(sorted(group.intersection(names)))} exclude each other")
    return Component(options=tuple(options))


def check(script: str, payload: Payload) -> None:
    """Hold a script against the plan; raises `ValueError` where it says something else. This would be a defect."""
    told = _told(components(script))
    planned = _planned(payload, named=bool(told.named))
    if told != planned:
        raise ValueError(f"the script of {payload.address} says {told}, the plan {planned}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Facts:
    """What must agree: nodes, devices, the start, and the nodes by name where the script names them."""

    nodes: int
    devices: int
    begins: frozenset[str | None]
    named: tuple[str, ...]


def _told(found: tuple[Component, ...]) -> _Facts:
    sizes = tuple(int(item.get("nodes") or 0) for item in found)
    return _Facts(
        nodes=sum(sizes),
        devices=sum(size * sum(count for _, count in item.gpus()) for size, item in zip(sizes, found, strict=True)),
        begins=frozenset(item.get("begin") for item in found),
        named=tuple(sorted(name for item in found if (listed := item.get("nodelist")) for name in expand(listed))),
    )


def _planned(payload: Payload, *, named: bool) -> _Facts:
    names = tuple(sorted(node.name for node in payload.nodes))
    return _Facts(
        nodes=len(names),
        devices=sum(device.share is None for node in payload.nodes for device in node.devices),
        begins=frozenset({f"uts{parse_time(payload.segment.start, 'UTC')}"}),
        named=names if named else (),
    )
