"""A Slurm cluster from the outputs of its commands, told apart by what they begin with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from planner.diagnostics import UsageError
from planner.discovery.facts import HostFacts
from planner.discovery.found import ClusterFacts, Text
from planner.discovery.models import Models
from planner.discovery.slurm import qos
from planner.discovery.slurm.accounts import accounts
from planner.discovery.slurm.history import BEGINNING, COMMAND, history
from planner.discovery.slurm.jobs import Queue, queue
from planner.discovery.slurm.nodes import inventory

COMMANDS: Final = (
    ("scontrol", "show", "node", "-o"),
    ("scontrol", "show", "partition", "-o"),
    ("scontrol", "show", "topology", "-o"),
    ("scontrol", "show", "reservation", "-o"),
    ("sacctmgr", "-P", "show", "assoc", "format=cluster,account,user,parentname,share,grptres,qos"),
    qos.COMMAND,
    ("squeue", "--json"),
    COMMAND,
)
"""What is run, read-only; the first must succeed."""
_BEGINNINGS: Final = (
    ("NodeName=", "node"),
    ("PartitionName=", "partition"),
    ("SwitchName=", "topology"),
    ("BlockName=", "topology"),
    ("ReservationName=", "reservation"),
    ("Cluster|Account|", "accounts"),
    (BEGINNING, "history"),
    (qos.BEGINNING, "qos"),
    ("{", "jobs"),
)
_EMPTY: Final = re.compile(r"No (?:reservations|topology information|nodes|partitions)\b.*|", re.IGNORECASE)


def read(texts: Iterable[Text], models: Models, taken_at: int) -> ClusterFacts:
    """Everything that the outputs tell, whatever their order; `UsageError` for one that is none of them."""
    by_kind: dict[str, list[Text]] = {}
    for text in sorted(texts, key=lambda each: each.name):
        if kind := _kind(text):
            by_kind.setdefault(kind, []).append(text)
    if "node" not in by_kind:
        raise UsageError("none of the files is the output of 'scontrol show node -o'; the inventory comes from there")
    joined = {kind: "\n".join(_decoded(each) for each in mine) for kind, mine in by_kind.items()}
    stock = inventory(joined, models, taken_at)
    teams = accounts(joined.get("accounts", ""), models, _counted(stock.hosts))
    limits = qos.qos_limits(joined.get("qos", ""), dict(teams.qos), models)
    jobs = [queue(each.name, each.data) for each in by_kind.get("jobs", ())]
    ended = [*(one for each in jobs for one in each.ended), *history(joined.get("history", "")).ended]
    return ClusterFacts(
        back_end="slurm",
        version=_version(jobs, joined["node"]),
        hosts=stock.hosts,
        tenants=teams.tenants,
        allowances=qos.narrowed(teams.allowances, limits.allowances),
        uses=tuple(use for each in jobs for use in each.uses),
        ended=tuple(dict.fromkeys(ended)),
        broken=stock.broken,
        waiting=sum(each.waiting for each in jobs),
        untold=(*stock.untold, *teams.untold, *limits.untold, *(sentence for each in jobs for sentence in each.untold)),
    )


def _kind(text: Text) -> str:
    start = text.data[:4_096].decode("utf-8", "replace").lstrip("\ufeff \r\n\t")
    for beginning, kind in _BEGINNINGS:
        if start.startswith(beginning):
            return kind
    if _EMPTY.fullmatch(start.strip()):
        return ""
    raise UsageError(f"'{text.name}' is none of the outputs that are read: {_wanted()}")


def _wanted() -> str:
    return ", ".join(f"'{' '.join(command)}'" for command in COMMANDS)


def _decoded(text: Text) -> str:
    return text.data.decode("utf-8", "replace").lstrip("\ufeff \r\n\t")


def _counted(hosts: Sequence[HostFacts]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for device in (device for host in hosts for device in host.devices):
        counts[device.model or ""] = counts.get(device.model or "", 0) + 1
    return counts


def _version(jobs: Sequence[Queue], node_text: str) -> str:
    told = next((each.version for each in jobs if each.version), "")
    match = re.search(r"\sVersion=([0-9]{2}\.[0-9]{2})", node_text)
    return told or (match[1] if match else "")
