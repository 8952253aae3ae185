"""Jobs of hosts that have Apptainer and no engine: a script each, started by the same schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from renderers import apptainer, environment, variables
from renderers.compose import words
from renderers.compose.devices import ids_of
from renderers.manifest import Manifest
from renderers.payload import EnvVar
from renderers.refusal import Unsupported

if TYPE_CHECKING:
    from planner.spec.cluster import Cluster
    from renderers.payload import Payload
    from renderers.replicas import Replica


def script_of(payload: Payload) -> str:
    """The script of a job; raises `Unsupported` where Apptainer would not do what the plan says."""
    if not payload.image:
        raise Unsupported("it needs an image. Name one in the job or in the chosen variant")
    return environment.render(
        "compose/job.sh.j2",
        secrets=tuple(item.name for item in payload.env if item.secret),
        foreign=payload.facts.foreign_visible_devices if payload.facts else (),
        env=(*_devices(payload), *variables.exported(payload)),
        command=apptainer.command_of(payload, variables.command_of(payload)),
    )


def _devices(payload: Payload) -> tuple[EnvVar, ...]:
    """The one variable that selects the job's devices, and how many processes torchrun starts."""
    if payload.facts is None or not payload.devices:
        return ()
    if payload.facts.visible_devices is None:
        raise Unsupported(f"no source tells how devices of {payload.facts.title} are selected")
    ids = ids_of(payload)
    return (
        EnvVar(name=payload.facts.visible_devices, value=",".join(ids)),
        EnvVar(name="PET_NPROC_PER_NODE", value=str(len(ids))),
    )


def manifest(cluster: Cluster, host: str, payload: Payload, text: str, replica: Replica | None) -> Manifest:
    """The file of a script."""
    address = payload.address.partition("#")[0]
    name = (
        words.service_name(address) if replica is None
        else words.replica_name(address, replica.number, replica.turn)
    )  # fmt: skip
    return Manifest(path=f"{cluster.name}/{host}/jobs/{name}.sh", text=text, addresses=(address,), executable=True)
