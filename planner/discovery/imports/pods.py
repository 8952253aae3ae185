"""A pod template as fields of a Job: devices, image, command, memory, mounts, and names of secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from planner.catalog import vendors
from planner.discovery.imports.imported import NotImported, stated
from planner.discovery.kubernetes.devices import Held, Meaning, held
from planner.discovery.kubernetes.objects import at, mapping, mappings, mebibytes, quantity_nano, sequence, text_of
from planner.discovery.models import Models
from planner.units import Memory, ceil_div

_NANO: Final = 10**9
_SHM: Final = "/dev/shm"
_HOSTNAME: Final = "kubernetes.io/hostname"
_REQUIRED: Final = "kueue.x-k8s.io/podset-required-topology"
_PREFERRED: Final = "kueue.x-k8s.io/podset-preferred-topology"

_WORD: Final = r"(?:token|secret|password|passwd|api[-_]?key|credentials?)"
_SECRET: Final = re.compile(rf"([\w-]*{_WORD})=(?![$]|/|\s|$|[\"']?[$])", re.IGNORECASE)
_SECRET_FLAG: Final = re.compile(rf"--?[\w-]*{_WORD}", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PodFields:
    """What one pod needs of devices, the other fields of a Job, and what they cannot say."""

    devices: int
    request: Mapping[str, Any]
    fields: Mapping[str, Any]
    untold: tuple[str, ...]


def pod_fields(template: Mapping[str, Any], models: Models) -> PodFields:
    """Read a pod template; raises `NotImported` for devices that no Job can ask for."""
    spec = mapping(template.get("spec"))
    containers = mappings(spec.get("containers"))
    if not containers:
        raise NotImported("its pods have no containers")
    amounts = [(each, held(mapping(at(each, "resources", "limits")))) for each in containers]
    main = next((each for each, mine in amounts if mine), containers[0])
    for container in (*containers, *mappings(spec.get("initContainers"))):
        harmless([str(word) for key in ("command", "args") for word in sequence(container.get(key))])
    amount = _only([one for _, mine in amounts for one in mine])
    selector = mapping(spec.get("nodeSelector"))
    untold = [*_command_trouble(main), *_selected(selector, amount), *_literals(main)]
    if len(containers) > 1:
        untold.append(f"{len(containers) - 1} further containers are in the template only")
    fields = {
        "image": text_of(main.get("image")),
        "command": [] if _command_trouble(main) else _command(main),
        **_amounts(containers),
        **_volumes(spec, main),
        "env": _secrets(main),
        "topology": _topology(template),
        "needs": stated({"tolerations": sorted(_tolerations(spec, amount))}),
        "user": _user(spec),
        "pull_secrets": [text_of(each.get("name")) for each in mappings(spec.get("imagePullSecrets"))],
        "service_account": text_of(spec.get("serviceAccountName")),
    }
    return PodFields(
        devices=amount.count if amount else 0,
        request=_request(amount, selector, models),
        fields=stated(fields),
        untold=tuple(untold),
    )


def harmless(words: Sequence[str]) -> None:
    """Raise `NotImported` where a command holds what looks like a secret: its template would be a copy of it."""
    for before, word in pairwise(("", *words)):
        match = _SECRET.search(word)
        told = (
            match[1] if match else before if _SECRET_FLAG.fullmatch(before) and not word.startswith(("$", "-")) else ""
        )
        if told:
            raise NotImported(f"its command gives {told} a value: put it into a secret of the back end first")


def _only(amounts: list[Held]) -> Held | None:
    names = sorted({amount.name for amount in amounts})
    if len(amounts) > 1:
        raise NotImported(f"several containers or kinds of devices in one pod: {', '.join(names)}")
    if amounts and amounts[0].meaning is Meaning.SHARE:
        raise NotImported(f"{names[0]} does not say which share of a device it is")
    return amounts[0] if amounts else None


def _request(amount: Held | None, selector: Mapping[str, Any], models: Models) -> dict[str, Any]:
    """Everything of `gpus` but the counts."""
    if amount is None:
        return {}
    model = models.of(text_of(selector.get(amount.facts.product_label_key or "")), amount.vendor)
    return stated({
        "model": model.slug if model else "",
        "vendor": "" if model else str(amount.vendor),
        "partition": amount.profile,
    })  # fmt: skip


def _selected(selector: Mapping[str, Any], amount: Held | None) -> Iterator[str]:
    product = amount.facts.product_label_key if amount else None
    for key in sorted(selector):
        if key != product:
            yield f"nodeSelector {key}={selector[key]} is in the template only"


def _command(container: Mapping[str, Any]) -> list[str]:
    words = [*sequence(container.get("command")), *sequence(container.get("args"))]
    return [str(word).replace("$$", "$") for word in words]


def _command_trouble(container: Mapping[str, Any]) -> tuple[str, ...]:
    """Commands that only the kubelet can complete, or that complete the image's own."""
    words = [str(word) for word in (*sequence(container.get("command")), *sequence(container.get("args")))]
    if any("$(" in word.replace("$$", "") for word in words):
        return ("its command uses $(VARIABLES) and is in the template only",)
    if sequence(container.get("args")) and not sequence(container.get("command")):
        return ("its arguments complete the image's own command and are in the template only",)
    return ()


def _literals(container: Mapping[str, Any]) -> Iterator[str]:
    """Variables by name; their values are never written."""
    names = [text_of(each.get("name")) for each in mappings(container.get("env")) if each.get("value")]
    if names:
        yield f"values of {', '.join(sorted(names))} are not written; put them into env, or secrets into the back end"
    if mappings(container.get("envFrom")):
        yield "envFrom is in the template only"


def _amounts(containers: list[Mapping[str, Any]]) -> dict[str, Any]:
    wanted = [
        mapping(at(each, "resources", "requests")) or mapping(at(each, "resources", "limits")) for each in containers
    ]
    cpu = sum(quantity_nano(each.get("cpu")) or 0 for each in wanted)
    memory = sum(mebibytes(each.get("memory"), up=True) or 0 for each in wanted)
    return {"cpus": ceil_div(cpu, _NANO) or None, "memory": str(Memory(memory)) if memory else None}


def _volumes(spec: Mapping[str, Any], container: Mapping[str, Any]) -> dict[str, Any]:
    """Claims, directories of the host and empty ones; what else is mounted stays in the template."""
    volumes = {text_of(each.get("name")): each for each in mappings(spec.get("volumes"))}
    mounts: list[dict[str, Any]] = []
    shm: str | None = None
    for mount in mappings(container.get("volumeMounts")):
        volume, path = volumes.get(text_of(mount.get("name")), {}), text_of(mount.get("mountPath"))
        if path == _SHM and "emptyDir" in volume:
            size = mebibytes(at(volume, "emptyDir", "sizeLimit"), up=True)
            shm = str(Memory(size)) if size else None
        elif (source := _source(volume)) and not mount.get("subPath"):
            mounts.append({"path": path, **source, **({"read_only": True} if mount.get("readOnly") is True else {})})
    return {"shm": shm, "mounts": mounts}


def _source(volume: Mapping[str, Any]) -> dict[str, Any]:
    claim = text_of(at(volume, "persistentVolumeClaim", "claimName"))
    host = text_of(at(volume, "hostPath", "path"))
    if claim:
        return {"claim": claim}
    if host:
        return {"host": host}
    return {"empty": True} if "emptyDir" in volume and not at(volume, "emptyDir", "medium") else {}


def _secrets(container: Mapping[str, Any]) -> dict[str, Any]:
    found = {
        text_of(each.get("name")): {
            "secret": text_of(at(each, "valueFrom", "secretKeyRef", "name")),
            "key": text_of(at(each, "valueFrom", "secretKeyRef", "key")),
        }
        for each in mappings(container.get("env"))
    }
    return {name: secret for name, secret in sorted(found.items()) if secret["secret"] and secret["key"]}


def _topology(template: Mapping[str, Any]) -> dict[str, Any]:
    """The one level that means the same everywhere: the node."""
    annotations = mapping(at(template, "metadata", "annotations"))
    if annotations.get(_REQUIRED) == _HOSTNAME:
        return {"within": "node", "required": True}
    return {"within": "node"} if annotations.get(_PREFERRED) == _HOSTNAME else {}


def _tolerations(spec: Mapping[str, Any], amount: Held | None) -> Iterator[str]:
    own = {facts.taint_key for facts in vendors().values()} if amount else set()
    for each in mappings(spec.get("tolerations")):
        key, value, effect = (text_of(each.get(part)) for part in ("key", "value", "effect"))
        if key and effect and key not in own:
            yield f"{key}={value}:{effect}" if value else f"{key}:{effect}"


def _user(spec: Mapping[str, Any]) -> str:
    user, group = at(spec, "securityContext", "runAsUser"), at(spec, "securityContext", "runAsGroup")
    if not isinstance(user, int):
        return ""
    return f"{user}:{group}" if isinstance(group, int) else str(user)
