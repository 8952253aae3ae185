"""A real Docker Compose over a real container engine: Compose from its Go module, podman behind its socket.

Containers run with runc, on the host's network and with the limits that an unprivileged sandbox grants. No registry is
needed: the only image is made from Debian's busybox-static.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.labs import gobuild, requirements
from tests.e2e.labs.processes import Failed, run, running

MODULE = Path(__file__).parent
PACKAGE = "github.com/docker/compose/v5/cmd"
VERSION = "-X github.com/docker/compose/v5/internal.Version=v5.5.0"
IMAGE = "localhost/lab/busybox:1"
APPLETS = ("cat", "date", "echo", "env", "ls", "sh", "sleep", "touch", "true")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compose:
    """The `docker compose` program; without an engine it can still read projects."""

    program: Path
    socket: Path | None = None
    podman: tuple[str, ...] = ()

    @property
    def environment(self) -> dict[str, str]:
        """How the engine is reached; nothing else of whoever runs the tests could be interpolated."""
        engine = {"DOCKER_HOST": f"unix://{self.socket}"} if self.socket else {}
        return {"PATH": os.environ["PATH"], "HOME": "/nonexistent"} | engine

    def tell(self, *words: object, cwd: Path | None = None) -> str:
        """What Compose says."""
        return run(self.program, *words, env=self.environment, cwd=cwd)

    def running(self) -> tuple[str, ...]:
        """The names of the containers that run now."""
        names = run(*self.podman, "ps", "--format", "{{.Names}}", env=self.environment)
        return tuple(sorted(names.split()))


def the_compose() -> Compose:
    """Docker Compose of the pinned version, built if need be."""
    return Compose(program=gobuild.built(MODULE, [PACKAGE], VERSION) / "cmd")


@contextlib.contextmanager
def running_engine(root: Path) -> Iterator[Compose]:
    """Start the engine under `root`; leaving the block removes every container and stops it."""
    requirements.root("run containers here")
    podman = requirements.program("podman", "podman")
    requirements.program("runc", "runc")
    store = (f"--root={root}/store", f"--runroot={root}/run", "--storage-driver=vfs")
    command = (str(podman), *store, "--runtime=runc", "--cgroup-manager=cgroupfs")
    run(*command, "import", _image(root), IMAGE.removeprefix("localhost/"), env=os.environ)
    socket = root / "engine.sock"
    with running(root / "log") as started:
        started.start("engine", *command, "system", "service", "--time=0", f"unix://{socket}", env=os.environ)
        started.wait_for(socket.exists, "the engine's socket")
        try:
            yield Compose(program=the_compose().program, socket=socket, podman=command)
        finally:
            with contextlib.suppress(Failed):
                run(*command, "rm", "--all", "--force", "--time=1", env=os.environ)


def _image(root: Path) -> Path:
    busybox = requirements.program("busybox", "busybox-static")
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as content:
        programs = Path(content) / "bin"
        programs.mkdir()
        shutil.copy(busybox, programs / "busybox")
        for applet in APPLETS:
            (programs / applet).symlink_to("busybox")
        run("tar", "-C", content, "-cf", root / "image.tar", ".")
    return root / "image.tar"
