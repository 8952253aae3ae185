"""The page on adopting a fleet shows what the verb really prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.planner.discovery import machines
from tests.planner.discovery.bench import ROOT, Bench
from tests.planner.discovery.machines import Machine

PAGE = (Path(ROOT) / "docs/adopt.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("machine", "arguments"),
    [(machines.H100, ("--name", "dc1")), (machines.A100_MIG, ()), (machines.CPX, ())],
    ids=["a host", "MIG", "AMD partitions"],
)
def test_output_on_the_page_is_real(bench: Bench, machine: Machine, arguments: tuple[str, ...]) -> None:
    printed = bench.run(machine, *arguments).stdout
    shown = printed if arguments else printed.split("\n\n# Spec", maxsplit=1)[0]
    command = " ".join(("planner discover", *arguments))
    assert f"```console\n$ {command}\n{shown.rstrip()}\n```" in PAGE
