"""A compose host looked at from itself: its devices, and the containers that its engine knows."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from planner import catalog
from planner.diagnostics import UsageError
from planner.discovery.discover import discover
from planner.discovery.facts import as_json
from planner.discovery.found import Text
from planner.discovery.running import outputs

ENGINES: Final = ("docker", "podman")


def look(node: str) -> tuple[tuple[Text, ...], tuple[str, ...]]:
    """The facts of this host under the name `node`, or its own, and its containers; and sentences on what failed."""
    engine = next((name for name in ENGINES if shutil.which(name)), None)
    if engine is None:
        raise UsageError(f"neither {' nor '.join(ENGINES)} is installed here; give files with their output instead")
    host = discover(Path("/"), os.uname().machine, catalog.load(), node=node)
    (listed, *_), _ = outputs(((engine, "ps", "--all", "--quiet", "--no-trunc"),))
    ids = listed.data.decode("ascii", "replace").split()
    inspected, failed = outputs(((engine, "inspect", *ids),), needed=0) if ids else ((), ())
    containers = (Text(name=f"{host.name}.containers.json", data=text.data) for text in inspected)
    return (Text(name=f"{host.name}.host.json", data=as_json(host).encode()), *containers), failed
