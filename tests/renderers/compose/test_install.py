"""What puts a schedule to work: units that systemd accepts, a line of cron, and programs without a finding."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.renderers.compose.edge import GREEN, a_cluster, several
from tests.renderers.compose.test_schedule import ONE, a_chain, a_native_host
from tests.renderers.slurm.site import lint


@pytest.mark.parametrize("backend", ["compose", "{type: compose, engine: apptainer, scheduler: cron}"])
def test_the_programs_are_plain_sh_without_a_finding(backend: str) -> None:
    edge = several({"job": (("command: [a]", "gpus: 1"), ONE, "green", 0)}, cluster=a_cluster(GREEN, backend))
    texts = [item.text for item in edge.rendered.manifests if item.path.endswith(".sh")]
    assert len(texts) >= 2
    assert [lint(text, "bash" if text.startswith("#!/bin/bash") else "sh") for text in texts] == [""] * len(texts)


def test_systemd_finds_no_fault_in_the_units(tmp_path: Path) -> None:
    units = {
        Path(item.path).name: item.text for item in a_chain().rendered.manifests if "gpu-fleet-planner@" in item.path
    }
    assert sorted(units) == ["gpu-fleet-planner@.service", "gpu-fleet-planner@.timer"]
    assert "ExecStart=/bin/sh %f/schedule.sh\n" in units["gpu-fleet-planner@.service"]
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not installed")
    for name, text in units.items():
        (tmp_path / name).write_text(text)
    paths = [tmp_path / name for name in units]
    done = subprocess.run([analyze, "verify", "--man=no", *paths], text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


CRONTAB = """#!/bin/sh
case $1 in
    -l) cat "$TABLE" ;;
    -) cat >"$TABLE.new"; mv "$TABLE.new" "$TABLE" ;;
esac
"""


def test_cron_runs_the_schedule_every_minute_once_however_often_it_is_installed(tmp_path: Path) -> None:
    host = a_native_host(tmp_path, "train")
    table = tmp_path / "table"
    table.write_text("0 1 * * * of others\n")
    (tmp_path / "crontab").write_text(CRONTAB)
    (tmp_path / "crontab").chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "TABLE": str(table)}
    install = ["sh", str(host.folder / "install.sh")]
    for _ in range(2):
        subprocess.run(install, env=environment, check=True)
        folder = host.folder.resolve()
        assert table.read_text().splitlines() == [
            "0 1 * * * of others",
            f"* * * * * /bin/sh {folder}/schedule.sh >>{folder}/schedule.log 2>&1",
        ]
    subprocess.run([*install, "--remove"], env=environment, check=True)
    assert table.read_text() == "0 1 * * * of others\n"
