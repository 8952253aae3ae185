"""The nodes of a Slurm lab, and the site files that describe them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from planner.hosts import expand, fold
from planner.specset import SpecSet

ENVIRONMENT_FLAGS = {"nvidia": "nvidia_gpu_env", "amd": "amd_gpu_env"}
"""Which variables Slurm sets for the devices of a vendor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nodes:
    """Nodes that are alike, by a list of hosts; `gpu` is the site's type of device."""

    names: str
    cpus: int
    memory_mib: int
    partition: str
    gpu: str = ""
    count: int = 0
    vendor: str = ""
    features: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """All nodes of a lab; `extra` are further lines of slurm.conf."""

    nodes: tuple[Nodes, ...]
    extra: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Every node by name."""
        return tuple(name for group in self.nodes for name in expand(group.names))

    @property
    def most_devices(self) -> int:
        """The devices of the node that has most."""
        return max(group.count for group in self.nodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a lab lives: its folder, the host's own name, and its ports."""

    root: Path
    host: str
    database: int
    accounting: int
    controller: int
    daemons: tuple[int, ...]


def fleet_of(specset: SpecSet, cluster: str, *extra: str) -> Fleet:
    """The nodes that the specs say a cluster has."""
    return Fleet(nodes=tuple(_pools(specset, cluster)), extra=extra)


def _pools(specset: SpecSet, cluster: str) -> Iterator[Nodes]:
    for pool in specset.cluster(cluster).pools:
        group = pool.gpus[0] if pool.gpus else None
        accelerator = specset.accelerator(group.model) if group else None
        yield Nodes(
            names=fold(pool.nodes.names),
            cpus=pool.cpus or 1,
            memory_mib=pool.memory.mib if pool.memory else 1024,
            partition=pool.partition or pool.name,
            gpu=(pool.gres_type or accelerator.gres_types[0]) if accelerator else "",
            count=group.count if group else 0,
            vendor=str(accelerator.vendor) if accelerator else "",
            features=tuple(pool.features),
        )


def accounting_conf(place: Place) -> str:
    """slurmdbd.conf."""
    return _lines(
        AuthType="auth/munge",
        AuthInfo=f"socket={place.root}/munge/socket",
        DbdHost=place.host,
        DbdAddr="127.0.0.1",
        DbdPort=place.accounting,
        SlurmUser="root",
        StorageType="accounting_storage/mysql",
        StorageHost="127.0.0.1",
        StoragePort=place.database,
        StorageUser="slurm",
        StoragePass="lab",
        StorageLoc="slurm_acct_db",
        LogFile=place.root / "log/slurmdbd.log",
        PidFile=place.root / "state/slurmdbd.pid",
    )


def slurm_conf(place: Place, fleet: Fleet) -> str:
    """slurm.conf; the scheduler looks every second, so that a start is as late as Slurm makes it and no later."""
    types = sorted({f"gres/gpu:{group.gpu}" for group in fleet.nodes if group.gpu})
    settings = _lines(
        ClusterName="lab",
        SlurmctldHost=f"{place.host}(127.0.0.1)",
        SlurmctldPort=place.controller,
        SlurmUser="root",
        AuthType="auth/munge",
        # How long credentials last is also how long an interrupted job waits before it may run again.
        AuthInfo=f"socket={place.root}/munge/socket,cred_expire=15",
        CredType="cred/munge",
        MpiDefault="none",
        ProctrackType="proctrack/linuxproc",
        TaskPlugin="task/none",
        ReturnToService=2,
        SlurmctldPidFile=place.root / "state/slurmctld.pid",
        SlurmdPidFile=place.root / "state/slurmd.%n.pid",
        SlurmdSpoolDir=place.root / "state/%n",
        StateSaveLocation=place.root / "state",
        SchedulerType="sched/backfill",
        SelectType="select/cons_tres",
        SelectTypeParameters="CR_Core_Memory",
        GresTypes="gpu,shard",
        SlurmctldLogFile=place.root / "log/slurmctld.log",
        SlurmdLogFile=place.root / "log/slurmd.%n.log",
        SlurmdParameters="config_overrides",
        AccountingStorageType="accounting_storage/slurmdbd",
        AccountingStorageHost="127.0.0.1",
        AccountingStoragePort=place.accounting,
        # A private socket of munge is found only through here.
        AccountingStoragePass=place.root / "munge/socket",
        AccountingStorageEnforce="associations,limits,qos",
        AccountingStorageTRES=",".join(["gres/gpu", *types]),
        AccountingStoreFlags="job_comment",
        JobAcctGatherType="jobacct_gather/none",
        PriorityType="priority/multifactor",
        PriorityWeightQOS=100000,
        SchedulerParameters="bf_interval=1,sched_interval=1",
    )
    return "".join([settings, *(f"{line}\n" for line in fleet.extra), *_node_lines(place, fleet), *_partitions(fleet)])


def _node_lines(place: Place, fleet: Fleet) -> Iterator[str]:
    ports = dict(zip(fleet.names, place.daemons, strict=True))
    for group in fleet.nodes:
        gres = f" Gres=gpu:{group.gpu}:{group.count}" if group.count else ""
        features = f" Feature={','.join(group.features)}" if group.features else ""
        for name in expand(group.names):
            yield (
                f"NodeName={name} NodeHostname={place.host} NodeAddr=127.0.0.1 Port={ports[name]} CPUs={group.cpus} "
                f"RealMemory={group.memory_mib}{gres}{features} State=UNKNOWN\n"
            )


def _partitions(fleet: Fleet) -> Iterator[str]:
    members: dict[str, list[str]] = {}
    for group in fleet.nodes:
        members.setdefault(group.partition, []).append(group.names)
    for name, nodes in sorted(members.items()):
        yield f"PartitionName={name} Nodes={','.join(nodes)} MaxTime=INFINITE State=UP\n"


def gres_conf(place: Place, fleet: Fleet) -> str:
    """gres.conf: without the vendor's flag Slurm would set the variables of all vendors."""
    return "".join(
        f"NodeName={group.names} Name=gpu Type={group.gpu} File={place.root}/dev/gpu[0-{group.count - 1}] "
        f"Flags={ENVIRONMENT_FLAGS[group.vendor]}\n"
        for group in fleet.nodes
        if group.count
    )


def _lines(**settings: object) -> str:
    return "".join(f"{key}={value}\n" for key, value in settings.items())
