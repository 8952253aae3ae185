"""Back ends of clusters, with their options."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import Field

from planner.catalog import Vendor
from planner.spec.fields import AsPairs, Flag, Line, Name, SpecModel, Word


class BackendType(StrEnum):
    """The kinds of back end that manifests can be written for."""

    KUBERNETES = "kubernetes"
    SLURM = "slurm"
    COMPOSE = "compose"


class Queueing(StrEnum):
    """What admits work to a Kubernetes cluster."""

    KUEUE = "kueue"
    KAI = "kai"
    VOLCANO = "volcano"
    NONE = "none"


class Workload(StrEnum):
    """The Kubernetes object that a job becomes."""

    JOB = "job"
    JOBSET = "jobset"
    TRAINJOB = "trainjob"
    PYTORCHJOB = "pytorchjob"
    MPIJOB = "mpijob"
    RAYJOB = "rayjob"


class PartitionNaming(StrEnum):
    """How the device plugin names partitions."""

    SINGLE = "single"
    MIXED = "mixed"


class DevicesBy(StrEnum):
    """What hands devices to the pods of a Kubernetes cluster."""

    PLUGIN = "plugin"
    DRA = "dra"


class Containers(StrEnum):
    """How Slurm runs container images."""

    PYXIS = "pyxis"
    APPTAINER = "apptainer"
    NONE = "none"


class GpuOption(StrEnum):
    """Which Slurm option asks for devices."""

    GRES = "gres"
    GPUS_PER_NODE = "gpus_per_node"


class ComposeScheduler(StrEnum):
    """What starts compose projects at their time."""

    SYSTEMD = "systemd"
    CRON = "cron"


class Engine(StrEnum):
    """What runs the containers of a compose host."""

    DOCKER = "docker"
    PODMAN = "podman"
    APPTAINER = "apptainer"


class ComposeHost(SpecModel):
    """How one compose host is reached."""

    node: Annotated[Word, Field(description="The node of a pool.")]
    address: Annotated[Line, Field(description="Where it is reached; by default the name of the node.")] = ""
    command: Annotated[tuple[Line, ...], Field(description="The command that runs compose there.")] = ()


class Scaling(StrEnum):
    """What changes the replicas of services in a Kubernetes cluster over the plan."""

    PHASES = "phases"
    KEDA = "keda"


class Serving(StrEnum):
    """The Kubernetes object that the replicas of a service become, where each has one node."""

    DEPLOYMENT = "deployment"
    KSERVE = "kserve"


class DueRunner(SpecModel):
    """What lets due work begin inside the cluster: a CronJob that runs `planner apply --due` from a clone."""

    image: Annotated[Word, Field(description="An image with planner, git and kubectl.")]
    repository: Annotated[Word, Field(description="Where git clones the specs from, with the branch of the state.")]
    specs: Annotated[Word, Field(description="The folder of the specs in the repository.")] = "specs"
    state_branch: Annotated[Word, Field(description="The branch that apply keeps its state on.")] = "planner-state"
    namespace: Annotated[Name, Field(description="The namespace that it runs in.")] = "planner"
    secret: Annotated[
        Name | None,
        Field(description="A Secret of that namespace whose key `credentials` is a file of git's credential store."),
    ] = None


def expand_backend(value: Any) -> Any:
    """The long form of `backend: slurm`."""
    return {"type": value} if isinstance(value, str) else value


class Backend(SpecModel):
    """The back end of a cluster, with its options."""

    type: Annotated[BackendType, Field(description="kubernetes, slurm or compose.")]
    version: Annotated[
        Word | None, Field(description='kubernetes, slurm: the version, for example "1.31" or "24.05".')
    ] = None
    queueing: Annotated[Queueing, Field(description="kubernetes: what admits work.")] = Queueing.KUEUE
    workload: Annotated[Workload, Field(description="kubernetes: the object that a job becomes.")] = Workload.JOB
    kueue_version: Annotated[Word | None, Field(description="kubernetes: the version of Kueue.")] = None
    partition_naming: Annotated[
        PartitionNaming, Field(description="kubernetes: the naming strategy of the device plugin for partitions.")
    ] = PartitionNaming.MIXED
    devices: Annotated[
        DevicesBy, Field(description="kubernetes: what hands out devices: the vendor's device plugin, or DRA.")
    ] = DevicesBy.PLUGIN
    scaling: Annotated[
        Scaling, Field(description="kubernetes: what changes replicas: whoever applies phases, or KEDA by the clock.")
    ] = Scaling.PHASES
    serving: Annotated[
        Serving, Field(description="kubernetes: the object that replicas become: a Deployment, or one of KServe.")
    ] = Serving.DEPLOYMENT
    due: Annotated[
        DueRunner | None, Field(description="kubernetes: what lets due work begin; without it nothing in the cluster.")
    ] = None
    operators: Annotated[
        tuple[tuple[Vendor, Name], ...],
        AsPairs(),
        Field(description="kubernetes: the namespaces of the vendors' operators, which are then told the layouts."),
    ] = ()
    containers: Annotated[Containers, Field(description="slurm: what runs container images.")] = Containers.PYXIS
    gpu_option: Annotated[GpuOption, Field(description="slurm: the option that asks for devices.")] = GpuOption.GRES
    typed: Annotated[Flag, Field(description="slurm: whether gres names the type of the device.")] = True
    exclusive: Annotated[Flag, Field(description="slurm: whether jobs get whole nodes.")] = False
    hosts: Annotated[tuple[ComposeHost, ...], Field(description="compose: address and command of each node.")] = ()
    scheduler: Annotated[ComposeScheduler, Field(description="compose: what starts projects.")] = (
        ComposeScheduler.SYSTEMD
    )
    engine: Annotated[Engine, Field(description="compose: what runs containers.")] = Engine.DOCKER


BACKEND_SCHEMAS: Final = ({"type": "string", "enum": [str(backend) for backend in BackendType]},)
