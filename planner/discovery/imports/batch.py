"""sbatch scripts as Job specs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from planner.discovery.imports.imported import (
    Imported,
    ImportWish,
    Refused,
    Result,
    job_name,
    lasting,
    stated,
    team_name,
    used,
)
from planner.discovery.models import Models
from planner.discovery.past import Run
from planner.discovery.slurm.records import gres
from planner.units import Memory, ceil_div

_SHORT: Final = MappingProxyType({
    "-J": "job-name", "-A": "account", "-p": "partition", "-N": "nodes", "-G": "gpus", "-n": "ntasks",
    "-c": "cpus-per-task", "-t": "time", "-a": "array", "-C": "constraint", "-d": "dependency", "-b": "begin",
    "-q": "qos", "-w": "nodelist", "-o": "output", "-e": "error", "-D": "chdir", "-x": "exclude",
})  # fmt: skip
_READ: Final = frozenset({
    "job-name", "account", "nodes", "gpus", "gpus-per-node", "gpus-per-task", "gres", "ntasks", "ntasks-per-node",
    "cpus-per-task", "cpus-per-gpu", "mem", "mem-per-gpu", "mem-per-cpu", "time", "array", "constraint", "qos",
})  # fmt: skip
_SCRIPTS_OWN: Final = frozenset({
    "output", "error", "open-mode", "chdir", "mail-type", "mail-user", "requeue", "no-requeue", "parsable", "comment",
})  # fmt: skip
_SECRET: Final = re.compile(
    r"(?:^|[\s;])(?:export\s+)?([A-Z0-9_]*(?:TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY)[A-Z0-9_]*)=[^$\s]"
)
_ARRAY: Final = re.compile(r"[0-9]{1,6}-[0-9]{1,6}(?:%[1-9][0-9]{0,5})?")
_MEMORY: Final = re.compile(r"([0-9]{1,12})([KMGT]?)B?", re.IGNORECASE)
_KIB: Final = MappingProxyType({"K": 1, "": 1 << 10, "M": 1 << 10, "G": 1 << 20, "T": 1 << 30})
_DEVICES: Final = frozenset({"gres", "gpus", "gpus-per-node", "gpus-per-task"})
_OURS: Final = "planner:job/"


class _Unclear(Exception):
    """Why a script cannot become a Job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """Nodes, devices in all with their type, and tasks per node."""

    nodes: int
    devices: int
    type: str
    tasks_per_node: int | None


def script(path: str, data: bytes, wish: ImportWish, models: Models, asked: Mapping[str, str] | None = None) -> Result:
    """Import one script, which becomes the template as it is; refused where it holds a secret.

    `asked` are the options that its job was queued with, which are stronger than those in it.
    """
    text = data.decode("utf-8", "replace")
    subject = f"script {path}"
    try:
        options = _joined(dict(_options(text)), asked or {})
        _harmless(text, options)
        shape = _shape(options)
        fields, untold = _fields(options, shape, models)
    except _Unclear as why:
        return Refused(subject=subject, reason=str(why))
    wish = replace(wish, past=_runs(path, options, wish))
    duration, doubt = lasting(wish, _seconds(options.get("time", "")), wish.past)
    team = team_name(wish, options.get("account", ""))
    if duration is None or not team:
        missing = "how long it takes: say it with --duration" if duration is None else "whose it is: say it with --team"
        return Refused(subject=subject, reason=f"it does not say {missing}")
    stem = path.rpartition("/")[2].partition(".")[0]
    return Imported(
        subject=subject,
        name=job_name(options.get("job-name", ""), stem),
        team=team,
        fields=stated(fields | {"duration": duration}),
        template=data,
        suffix=".sbatch",
        untold=(*doubt, *used(wish), *untold),
    )


def _runs(path: str, options: Mapping[str, str], wish: ImportWish) -> tuple[Run, ...]:
    """The runs of the script's account that bear its name; without one it is called as its file."""
    name, account = options.get("job-name") or path.rpartition("/")[2], options.get("account", "")
    return tuple(run for run in wish.past if run.name == name and account in {"", run.tenant})


def is_script(data: bytes) -> bool:
    """Whether a file is for sbatch."""
    return data.startswith(b"#!") and re.search(rb"(?m)^#SBATCH\s", data) is not None


def _joined(own: Mapping[str, str], asked: Mapping[str, str]) -> dict[str, str]:
    """A script's options and those of its job; devices are asked for in one way, the script's where it has one."""
    given = {key: value for key, value in asked.items() if key != "gres" or not _DEVICES & own.keys()}
    return {**own, **given}


def _options(text: str) -> Iterator[tuple[str, str]]:
    """Options of the `#SBATCH` lines, which end with the first command; the last of a name counts."""
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            return
        if line.startswith("#SBATCH"):
            yield from _words(line.removeprefix("#SBATCH"))


def _words(line: str) -> Iterator[tuple[str, str]]:
    try:
        words = shlex.split(line, comments=True)
    except ValueError as error:
        raise _Unclear(f"'#SBATCH{line}' cannot be read: {error}") from None
    if words and words[0] in {"hetjob", "packjob"}:
        raise _Unclear("its parts are not alike; write roles by hand")
    while words:
        word = words.pop(0)
        name, equals, value = word.partition("=")
        if word.startswith("--"):
            takes_next = not equals and words and not words[0].startswith("-")
            yield name[2:], value if equals else words.pop(0) if takes_next else ""
        elif word[:2] in _SHORT:
            yield _SHORT[word[:2]], word[2:] if len(word) > 2 else words.pop(0) if words else ""
        else:
            raise _Unclear(f"the option '{word}' is not known")


def _harmless(text: str, options: Mapping[str, str]) -> None:
    """Refuse what must not be copied, and what the planner itself wrote."""
    if options.get("comment", "").startswith(_OURS):
        raise _Unclear("the planner wrote it")
    if "=" in options.get("export", ""):
        raise _Unclear("--export sets values of variables: put them into env, or secrets into the back end")
    for number, line in enumerate(text.splitlines(), start=1):
        if match := _SECRET.search(line):
            raise _Unclear(f"line {number} sets {match[1]} to a value: read it from a file or a secret first")


def _shape(options: Mapping[str, str]) -> _Shape:
    nodes = _count(options, "nodes") or 1
    tasks, per_node = _count(options, "ntasks"), _count(options, "ntasks-per-node")
    if tasks and per_node is None and tasks % nodes == 0:
        per_node = tasks // nodes
    for option, times in (("gres", nodes), ("gpus-per-node", nodes), ("gpus", 1), ("gpus-per-task", tasks or nodes)):
        if value := options.get(option):
            found = _devices(option, value)
            if found is not None:
                return _Shape(nodes=nodes, devices=found[0] * times, type=found[1], tasks_per_node=per_node)
    return _Shape(nodes=nodes, devices=0, type="", tasks_per_node=per_node)


def _count(options: Mapping[str, str], name: str) -> int | None:
    value = options.get(name)
    if value is None:
        return None
    if not re.fullmatch(r"[1-9][0-9]{0,6}", value):
        raise _Unclear(f"--{name}={value} is not one number")
    return int(value)


def _devices(option: str, value: str) -> tuple[int, str] | None:
    """Devices and their type; of `--gres` those that are devices."""
    items = gres(value if option == "gres" else ",".join(f"gpu:{part}" for part in value.split(",")))
    mine = [item for item in items if item.name == "gpu"]
    if option == "gres" and any(item.name in {"shard", "mps"} for item in items):
        raise _Unclear("it shares devices; write gpus: 1/N")
    if len(mine) > 1:
        raise _Unclear("it asks for several types of devices; write roles by hand")
    return (mine[0].count, mine[0].type) if mine else None


def _fields(options: Mapping[str, str], shape: _Shape, models: Models) -> tuple[dict[str, Any], list[str]]:
    untold = [f"--{name} is in the script only" for name in sorted(options) if name not in _READ | _SCRIPTS_OWN]
    per_task = _count(options, "cpus-per-task")
    cpus = per_task * (shape.tasks_per_node or 1) if per_task else None
    if shape.nodes > 1 and not shape.devices:
        raise _Unclear("it has several nodes without devices, which is no gang that a Job can ask for")
    if shape.devices % shape.nodes:
        raise _Unclear(f"{shape.devices} devices cannot be divided evenly over {shape.nodes} nodes")
    fields = {
        "priority": _priority(options, untold),
        "gpus": _gpus(options, shape, models, untold),
        "cpus": cpus,
        "cpus_per_gpu": _count(options, "cpus-per-gpu"),
        "memory": _memory(options.get("mem")) or _times(options.get("mem-per-cpu"), cpus or shape.tasks_per_node),
        "memory_per_gpu": _memory(options.get("mem-per-gpu")),
        "tasks_per_node": shape.tasks_per_node,
        "array": _array(options.get("array", "")),
        "needs": stated({"features": _features(options.get("constraint", ""), untold)}),
    }
    return fields, untold


def _gpus(options: Mapping[str, str], shape: _Shape, models: Models, untold: list[str]) -> dict[str, Any]:
    model = models.of(shape.type) if shape.type else None
    word = model.slug if model else shape.type if models.catalog.resolve(shape.type) else ""
    if shape.type and not word:
        raise _Unclear(f"the catalogue does not know the type '{shape.type}'; say it with --model {shape.type}=SLUG")
    nodes = {"nodes": shape.nodes} if shape.devices and "nodes" in options and shape.nodes > 1 else {}
    return {"count": shape.devices} | nodes | ({"model": word} if word else {})


def _priority(options: Mapping[str, str], untold: list[str]) -> str | None:
    qos = options.get("qos", "")
    if re.fullmatch(r"[pP][0-3]", qos):
        return qos.upper()
    if qos:
        untold.append(f"--qos={qos} is in the script only; write priority")
    return None


def _features(constraint: str, untold: list[str]) -> list[str]:
    if re.fullmatch(r"[\w.-]+(?:&[\w.-]+)*", constraint):
        return constraint.split("&")
    if constraint:
        untold.append(f"--constraint={constraint} is in the script only")
    return []


def _array(text: str) -> str:
    if text and not _ARRAY.fullmatch(text):
        raise _Unclear(f"the array {text} is not a range FIRST-LAST; import its parts one by one")
    return text


def _memory(text: str | None, times: int = 1) -> str | None:
    match = _MEMORY.fullmatch(text or "")
    if match is None or not int(match[1]):
        return None
    return str(Memory(ceil_div(int(match[1]) * _KIB[match[2].upper()] * times, 1 << 10)))


def _times(text: str | None, cpus: int | None) -> str | None:
    return _memory(text, cpus or 1)


def _seconds(text: str) -> int | None:
    """A time limit as sbatch takes it: `90`, `90:00`, `1:30:00`, `2-12`, `2-12:30` or `2-12:30:00`."""
    match = re.fullmatch(r"(?:([0-9]{1,5})-)?([0-9]{1,8}(?::[0-9]{1,2}){0,2})", text)
    if match is None:
        return None
    parts = [int(part) for part in match[2].split(":")]
    if match[1] is not None:
        hours, minutes, seconds = (*parts, 0, 0)[:3]
        return ((int(match[1]) * 24 + hours) * 60 + minutes) * 60 + seconds
    hours, minutes, seconds = parts if len(parts) == 3 else (0, *parts) if len(parts) == 2 else (0, parts[0], 0)
    return (hours * 60 + minutes) * 60 + seconds
