"""How the parts of a gang find each other, for each kind of workload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from renderers.kubernetes.pod import Variable
from renderers.payload import MASTER_PORT

if TYPE_CHECKING:
    from renderers.payload import Payload

BATCH_NAME: Final = "metadata.labels['batch.kubernetes.io/job-name']"
JOBSET_NAME: Final = "metadata.labels['jobset.sigs.k8s.io/jobset-name']"
JOB_INDEX: Final = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
NODE: Final = "node"
"""The replicated job of a JobSet and of a training runtime."""


def of_job(payload: Payload, workload: str) -> tuple[Variable, ...]:
    """For an Indexed Job, whose parts have names below the Service of the gang."""
    return _for_torch(payload, f"$(PLANNER_JOB_NAME)-0.{workload}", BATCH_NAME)


def of_jobset(payload: Payload, workload: str) -> tuple[Variable, ...]:
    """For a JobSet, which has a Service of its own name."""
    return _for_torch(payload, f"$(PLANNER_JOB_NAME)-{NODE}-0-0.$(PLANNER_JOB_NAME)", JOBSET_NAME)


def of_trainjob(payload: Payload, workload: str) -> tuple[Variable, ...]:
    """For a TrainJob, whose controller sets what torchrun reads and refuses a second word about it."""
    return tuple(item for item in of_jobset(payload, workload) if not item.name.startswith("PET_"))


def by_controller(payload: Payload, workload: str) -> tuple[Variable, ...]:
    """For kinds whose controllers tell each part all that it needs to know."""
    return ()


def _for_torch(payload: Payload, master: str, name_field: str) -> tuple[Variable, ...]:
    """The plain variables of PyTorch's `env://`, and the defaults that torchrun reads.

    The name of the object is taken from the pod's label, since it depends on all that is written here.
    """
    processes = (Variable(name="PET_NPROC_PER_NODE", value=str(len(payload.devices))),) if payload.devices else ()
    if not payload.is_gang:
        return processes
    nodes, port = str(len(payload.nodes)), str(MASTER_PORT)
    fixed = {
        "MASTER_ADDR": master,
        "MASTER_PORT": port,
        "NNODES": nodes,
        "PET_MASTER_ADDR": master,
        "PET_MASTER_PORT": port,
        "PET_NNODES": nodes,
    }
    return (
        Variable(name="PLANNER_JOB_NAME", field=name_field),
        Variable(name="NODE_RANK", field=JOB_INDEX),
        Variable(name="PET_NODE_RANK", field=JOB_INDEX),
        *(Variable(name=name, value=value) for name, value in sorted(fixed.items())),
        *processes,
    )
