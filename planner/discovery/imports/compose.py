"""Services of compose projects: those that run to their end as Jobs, those that stay up as Services."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from planner.catalog import Vendor, VendorFacts, vendors
from planner.discovery.imports.imported import (
    Imported,
    ImportWish,
    NotImported,
    Refused,
    Result,
    job_name,
    kept_up,
    lasting,
    stated,
    team_name,
)
from planner.discovery.imports.pods import harmless
from planner.discovery.kubernetes.objects import at, mapping, mappings, quantity_nano, sequence, text_of
from planner.units import Memory, ceil_div

_ADDRESS: Final = "planner.dev/address"
_SIZE: Final = re.compile(r"([0-9]{1,15})(?:\.([0-9]{1,6}))?\s*([bkmgt]?)i?b?", re.IGNORECASE)
_BYTES: Final = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_STAYING: Final = frozenset({"always", "unless-stopped"})
_NANO: Final = 10**9
_FILE_ONLY: Final = (
    "build",
    "env_file",
    "networks",
    "network_mode",
    "secrets",
    "configs",
    "extends",
    "healthcheck",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cards:
    """Devices of one vendor; `chosen` when the file says which."""

    vendor: Vendor
    count: int
    chosen: bool


def is_project(tree: Any) -> bool:
    """Whether a document is a compose project."""
    return isinstance(tree, dict) and isinstance(tree.get("services"), dict) and "apiVersion" not in tree


def project(path: str, tree: Mapping[str, Any], wish: ImportWish) -> list[Result]:
    """Import the services of a project by name; those that the planner wrote are passed over."""
    services = {name: mapping(each) for name, each in mapping(tree.get("services")).items() if isinstance(name, str)}
    own = text_of(tree.get("name")) or path.rpartition("/")[2].partition(".")[0]
    return [
        _service(own, name, services[name], tree, wish)
        for name in sorted(services)
        if _ADDRESS not in _pairs(services[name].get("labels"))
    ]


def _service(own: str, name: str, service: Mapping[str, Any], tree: Mapping[str, Any], wish: ImportWish) -> Result:
    subject = f"service {own}/{name}"
    stays = text_of(service.get("restart")) in _STAYING
    try:
        fields, untold = _fields(service)
        team = team_name(wish, own)
        if not team:
            raise NotImported("it does not say whose it is: say it with --team")
        if stays and not fields["gpus"]["count"]:
            raise NotImported("it is always up and holds no devices: it needs no place in a plan")
        more, doubt = _staying(service) if stays else _ending(service, wish)
    except NotImported as why:
        return Refused(subject=subject, reason=str(why))
    return Imported(
        subject=subject,
        kind="Service" if stays else "Job",
        name=job_name(name),
        team=team,
        fields=stated(fields | more),
        template=_template(name, service, tree),
        suffix=".template.yaml",
        untold=(*doubt, *untold),
    )


def _ending(service: Mapping[str, Any], wish: ImportWish) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What only a job has."""
    restart = text_of(service.get("restart"))
    duration, doubt = lasting(wish, None)
    if duration is None:
        raise NotImported("it does not say how long it takes: say it with --duration")
    retries = int(restart.partition(":")[2]) if re.fullmatch(r"on-failure:[0-9]{1,4}", restart) else None
    return {"after": sorted(_after(service)), "duration": duration, "retries": retries}, doubt


def _staying(service: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What only a service has; of its ports the first inside the container."""
    scale = at(service, "deploy", "replicas")
    fields, told = kept_up(scale if isinstance(scale, int) else 1)
    ports = [each.get("target") if isinstance(each, dict) else _inside(each) for each in sequence(service.get("ports"))]
    return fields | {"port": next((port for port in ports if isinstance(port, int)), None)}, (told,)


def _inside(port: Any) -> int | None:
    match = re.search(r"(?:^|:)([0-9]{1,5})(?:/tcp)?$", str(port))
    return int(match[1]) if match else None


def _fields(service: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    cards = _cards(service)
    command, trouble = _command(service)
    harmless(command)
    variables = sorted(_pairs(service.get("environment")))
    untold = [*trouble, *(f"{key} is in the template only" for key in _FILE_ONLY if service.get(key))]
    if variables:
        names = ", ".join(variables)
        untold.append(f"values of {names} are not written; put them into env, or secrets into the back end")
    if cards and cards.chosen:
        untold.append("which cards it uses is not written; pin them where that matters")
    limits = mapping(at(service, "deploy", "resources", "limits"))
    cpus = quantity_nano(limits.get("cpus") or service.get("cpus"))
    fields = {
        "image": text_of(service.get("image")),
        "command": command,
        "gpus": {"count": cards.count, "vendor": str(cards.vendor)} if cards else {"count": 0},
        "cpus": ceil_div(cpus, _NANO) if cpus else None,
        "memory": _size(limits.get("memory") or service.get("mem_limit")),
        "shm": _size(service.get("shm_size")),
        "user": str(service.get("user") or ""),
        "mounts": list(_mounts(service)),
    }
    return fields, untold


def _cards(service: Mapping[str, Any]) -> _Cards | None:
    """Devices in every way in which a file can hand them out; several vendors are no Job."""
    asked = [*mappings(at(service, "deploy", "resources", "reservations", "devices"))]
    asked += (
        [{"capabilities": ["gpu"], "count": "all"}] if service.get("gpus") == "all" else mappings(service.get("gpus"))
    )
    nodes = [text_of(each).partition(":")[0] for each in sequence(service.get("devices"))]
    found = [each for facts in vendors().values() for each in (*_requested(facts, asked), *_passed(facts, nodes))]
    if len({each.vendor for each in found}) > 1 or len(found) > 1:
        raise NotImported("it is given devices in several ways")
    return found[0] if found else None


def _requested(facts: VendorFacts, asked: list[Mapping[str, Any]]) -> Iterator[_Cards]:
    """Requests to a driver; one without a driver goes to the only vendor that has such a driver."""
    for each in asked:
        driver = text_of(each.get("driver"))
        ids = [text_of(one) for one in sequence(each.get("device_ids"))]
        cdi = driver == "cdi" and any(one.startswith(f"{facts.cdi_kind}=") for one in ids)
        mine = facts.compose_driver is not None and driver in {"", facts.compose_driver}
        if not (mine or cdi):
            continue
        count = each.get("count")
        if not ids and not isinstance(count, int):
            raise NotImported("it asks for all cards; write how many it needs")
        yield _Cards(vendor=facts.vendor, count=len(ids) or int(str(count)), chosen=bool(ids))


def _passed(facts: VendorFacts, nodes: list[str]) -> Iterator[_Cards]:
    """Device nodes and CDI names that are passed in: a card is a node that stands for a number."""
    patterns = [
        re.escape(each).replace(re.escape("{render}"), "[0-9]+") for each in facts.compose_device_nodes if "{" in each
    ]
    cards = [node for node in nodes if any(re.fullmatch(pattern, node) for pattern in patterns)]
    cards += [node for node in nodes if facts.cdi_kind and node.startswith(f"{facts.cdi_kind}=")]
    if any(node.endswith("=all") for node in cards):
        raise NotImported("it asks for all cards; write how many it needs")
    if cards:
        yield _Cards(vendor=facts.vendor, count=len(cards), chosen=True)


def _command(service: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Entry point and command as words; what compose would fill in stays in the template."""
    words: list[str] = []
    for value in (service.get("entrypoint"), service.get("command")):
        try:
            words += shlex.split(value) if isinstance(value, str) else [str(each) for each in sequence(value)]
        except ValueError:
            return [], ["its command cannot be read and is in the template only"]
    if any("$" in word.replace("$$", "") for word in words):
        return [], ["its command uses ${VARIABLES} and is in the template only"]
    return [word.replace("$$", "$") for word in words], []


def _pairs(value: Any) -> dict[str, Any]:
    """A mapping, or a list of `NAME=value`, by name."""
    if isinstance(value, list):
        return {str(each).partition("=")[0]: str(each).partition("=")[2] for each in value}
    return {str(key): each for key, each in mapping(value).items()}


def _size(value: Any) -> str | None:
    match = _SIZE.fullmatch(str(value)) if isinstance(value, int | str) and not isinstance(value, bool) else None
    if match is None:
        return None
    scale, part = _BYTES[match[3].lower()], match[2] or "0"
    amount = int(match[1]) * scale + ceil_div(int(part) * scale, int("1" + "0" * len(part)))
    return str(Memory(ceil_div(amount, 1 << 20))) if amount else None


def _mounts(service: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for volume in sequence(service.get("volumes")):
        source, target, read_only = _volume(volume)
        if target and source is not None and "$" not in source + target:
            kind = {"empty": True} if not source else {"host": source} if source.startswith("/") else {"claim": source}
            if not source.startswith((".", "~")):
                yield {"path": target, **kind, **({"read_only": True} if read_only else {})}


def _volume(value: Any) -> tuple[str | None, str, bool]:
    """Source, target and whether it is only read; an empty source is an empty directory."""
    if isinstance(value, str):
        parts = value.split(":")
        mode = parts[2] if len(parts) > 2 else ""
        return (parts[0], parts[1], "ro" in mode.split(",")) if len(parts) in {2, 3} else ("", parts[0], False)
    tree = mapping(value)
    source = "" if tree.get("type") == "tmpfs" else text_of(tree.get("source")) or None
    return source, text_of(tree.get("target")), tree.get("read_only") is True


def _after(service: Mapping[str, Any]) -> Iterator[str]:
    for name, condition in mapping(service.get("depends_on")).items():
        if mapping(condition).get("condition") == "service_completed_successfully":
            yield job_name(str(name))


def _template(name: str, service: Mapping[str, Any], tree: Mapping[str, Any]) -> bytes:
    """The project with this service alone and without values of variables. JSON is YAML, and keeps types."""
    bare = {key: value for key, value in service.items() if key != "environment"}
    if variables := sorted(_pairs(service.get("environment"))):
        bare["environment"] = variables
    rest = {key: tree[key] for key in ("volumes", "networks") if tree.get(key)}
    return (json.dumps({"services": {name: bare}, **rest}, indent=2, ensure_ascii=False) + "\n").encode()
