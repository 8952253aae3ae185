"""A real Slurm on loopback: munged, MariaDB, slurmdbd, slurmctld and one slurmd for each node.

Devices are character devices, which is all that Slurm asks of them: types, binding, visible devices, accounts, QOS,
limits, preemption and accounting are its own. Every port, socket and folder belongs to the lab.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.labs import requirements
from tests.e2e.labs.processes import Failed, Running, attempt, free_ports, listens, run, running, wait_for
from tests.e2e.labs.slurm import fleet as site_files
from tests.e2e.labs.slurm.fleet import Fleet, Place

NEEDS = {
    "munged": "munge",
    "mariadbd": "mariadb-server",
    "slurmdbd": "slurmdbd",
    "slurmctld": "slurmctld",
    "slurmd": "slurmd",
    "sbatch": "slurm-client",
}
NULL_DEVICE = os.makedev(1, 3)
PRIORITIES = ("p3", "p2", "p1", "p0")
"""From the lowest: each may interrupt those before it."""
PREEMPTION = ("PreemptType=preempt/qos", "PreemptMode=REQUEUE")
"""Lines of slurm.conf without which no QOS interrupts another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A Slurm that runs; `folder` is free for the files of tests."""

    root: Path
    fleet: Fleet

    @property
    def environment(self) -> dict[str, str]:
        """How programs reach it, and nothing else of whoever runs the tests."""
        return {"PATH": os.environ["PATH"], "SLURM_CONF": str(self.root / "slurm.conf"), "TZ": "UTC0", "LANG": "C"}

    def tell(self, *command: object, cwd: Path | None = None) -> str:
        """What one of Slurm's programs says."""
        return run(*command, env=self.environment, cwd=cwd)

    def queue(self, field: str) -> dict[str, str]:
        """A field of what is queued, by the job's name."""
        lines = self.tell("squeue", "--noheader", f"--format=%j {field}").splitlines()
        return {name: value.strip() for name, _, value in (line.partition(" ") for line in lines)}

    def accounts(self, *fields: str) -> list[dict[str, str]]:
        """What accounting holds of jobs, without their steps."""
        text = self.tell(
            *("sacct", "--allocations", "--noheader", "--parsable2", "--starttime=now-1days", "--duplicates"),
            f"--format={','.join(fields)}",
        )
        return [dict(zip(fields, line.split("|"), strict=True)) for line in text.splitlines()]

    def submit(self, folder: Path) -> str:
        """What the rendered program says that submits the jobs of a folder."""
        return self.tell("sh", folder / "submit.sh", cwd=self.root)

    def clear(self) -> None:
        """Cancel all that is queued, and wait until it has gone."""
        self.tell("scancel", "--user=root")
        wait_for(lambda: not self.tell("squeue", "--noheader").strip(), "an empty queue")


def add_accounts(site: Site, teams: Iterable[str]) -> None:
    """What the scripts take as given: an account for each team, and the QOS of the four priorities."""
    names = ",".join(sorted(teams))
    commands = [f"add qos {','.join(PRIORITIES)}"]
    for rank, name in enumerate(PRIORITIES):
        below = f" Preempt={','.join(PRIORITIES[:rank])}" if rank else ""
        commands.append(f"modify qos {name} set Priority={rank * 1000 + 1}{below}")
    qos = ",".join(PRIORITIES)
    commands += [f"add account {names} qos={qos}", f"add user root account={names} qos={qos}"]
    for command in commands:
        run("sacctmgr", "-i", *command.split(), env=site.environment)


@contextlib.contextmanager
def running_site(root: Path, fleet: Fleet) -> Iterator[Site]:
    """Start Slurm under `root`; leaving the block stops it with all of its jobs."""
    requirements.root("make the character devices that stand for GPUs")
    programs = {name: requirements.program(name, package) for name, package in NEEDS.items()}
    place = _prepared(root, fleet)
    site = Site(root=root, fleet=fleet)
    with running(root / "log") as started:
        _start_munge(started, root, programs["munged"])
        _start_database(started, root, programs["mariadbd"], place.database)
        _start_daemons(started, place, site, programs)
        try:
            yield site
        finally:
            with contextlib.suppress(Failed):
                site.clear()


def _prepared(root: Path, fleet: Fleet) -> Place:
    for folder in ("log", "state", "dev", "munge", "db"):
        (root / folder).mkdir(parents=True)
    for device in range(fleet.most_devices):
        os.mknod(root / f"dev/gpu{device}", 0o20666, NULL_DEVICE)
    database, accounting, controller, *daemons = free_ports(3 + len(fleet.names))
    place = Place(
        root=root,
        host=socket.gethostname().partition(".")[0],
        database=database,
        accounting=accounting,
        controller=controller,
        daemons=tuple(daemons),
    )
    (root / "slurmdbd.conf").write_text(site_files.accounting_conf(place))
    (root / "slurmdbd.conf").chmod(0o600)
    (root / "slurm.conf").write_text(site_files.slurm_conf(place, fleet))
    (root / "gres.conf").write_text(site_files.gres_conf(place, fleet))
    return place


def _start_munge(started: Running, root: Path, program: Path) -> None:
    folder = root / "munge"
    (folder / "key").write_bytes(os.urandom(1024))
    (folder / "key").chmod(0o400)
    files = {"socket": "socket", "key-file": "key", "pid-file": "pid", "seed-file": "seed", "log-file": "log"}
    started.start(
        *("munged", program, "--foreground", "--force"),
        *(f"--{option}={folder / name}" for option, name in files.items()),
    )
    started.wait_for((folder / "socket").exists, "munged")


def _start_database(started: Running, root: Path, program: Path, port: int) -> None:
    data, sock = root / "db/data", root / "db/socket"
    run(
        *("mariadb-install-db", "--no-defaults", f"--datadir={data}", "--user=root"),
        *("--auth-root-authentication-method=normal", "--skip-test-db"),
    )
    started.start(
        *("mariadbd", program, "--no-defaults", f"--datadir={data}", "--user=root", f"--socket={sock}"),
        *("--bind-address=127.0.0.1", f"--port={port}", f"--pid-file={root}/db/pid"),
        *("--innodb-flush-log-at-trx-commit=0", "--innodb-lock-wait-timeout=900"),
    )
    started.wait_for(sock.exists, "mariadbd")
    statement = (
        "CREATE DATABASE slurm_acct_db; CREATE USER slurm@'127.0.0.1' IDENTIFIED BY 'lab'; "
        "GRANT ALL ON slurm_acct_db.* TO slurm@'127.0.0.1';"
    )
    client = ("mariadb", "--no-defaults", f"--socket={sock}", "--user=root", "-e", statement)
    started.wait_for(lambda: run(*client) == "", "the database")


def _start_daemons(started: Running, place: Place, site: Site, programs: dict[str, Path]) -> None:
    environment, configuration = site.environment, ("-f", place.root / "slurm.conf")
    started.start("slurmdbd", programs["slurmdbd"], "-D", env=environment)
    started.wait_for(lambda: listens(place.accounting), "slurmdbd")
    started.wait_for(lambda: bool(run("sacctmgr", "-i", "add", "cluster", "lab", env=environment)), "the cluster")
    started.start("slurmctld", programs["slurmctld"], "-D", *configuration, env=environment)
    started.wait_for(lambda: listens(place.controller), "slurmctld")
    for name in site.fleet.names:
        started.start(f"slurmd.{name}", programs["slurmd"], "-D", "-N", name, *configuration, env=environment)
    started.wait_for(lambda: _idle(site) == len(site.fleet.names), "slurmd on every node")


def _idle(site: Site) -> int:
    answer = attempt("sinfo", "-h", "-N", "-o", "%N %T", env=site.environment).stdout.splitlines()
    return len({line.split()[0] for line in answer if line.endswith(" idle")})
