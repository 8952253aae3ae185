"""A job's own batch script: its directives and commands stay, what the plan decides is laid over it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from planner.diagnostics import as_text
from planner.specset import SourceFile, SpecSet, load
from renderers.refusal import Unsupported
from renderers.slurm import render
from renderers.slurm.overlay import overlay
from tests.renderers.fleet import a_job, a_placement, a_segment, plan_of
from tests.renderers.slurm.site import TEAM, Site, a_cluster, lint, whole_nodes

SCRIPT = """\
#!/bin/bash -l
#SBATCH --job-name=mine
#SBATCH -N 4
#SBATCH --gpus-per-node=a100:4   # the old machine
#SBATCH --ntasks-per-node=8
#SBATCH --mail-user="ann@acme.example" --mail-type=END
# a remark
#SBATCH --output=logs/%x.%j.out
#SBATCH -t 12:00:00

module load cuda
srun ./train "$@" '#SBATCH --not-a-directive'
"""
ONE_A_LINE = SCRIPT.replace(" --mail-type=END", "")


def own(script: str, *fields: str) -> Site:
    """A job on a whole node with a script of its own beside its spec."""
    texts = {"c.yaml": a_cluster(), "t.yaml": TEAM, "j.yaml": a_job("train", "gpus: 8", "template: run.sh", *fields)}
    files = [SourceFile(f"specs/{name}", text.encode()) for name, text in texts.items()]
    result = load([*files, SourceFile("specs/run.sh", script.encode())])
    assert result.specset is not None, as_text(result.diagnostics)
    specs: SpecSet = result.specset
    segment = a_segment("hpc/h100", *whole_nodes(1), specs=specs)
    plan = plan_of(a_placement("job/vision/train", segment, specs=specs), specs=specs)
    return Site(specs=specs, plan=plan, rendered=render(plan, specs, specs.cluster("hpc")))


def test_what_the_plan_decides_is_laid_over_and_all_else_stays() -> None:
    lines = own(ONE_A_LINE).script().splitlines()
    assert lines[0] == "#!/bin/bash -l"
    directives = [line for line in lines if line.startswith("#SBATCH")]
    assert directives[-3:] == [
        "#SBATCH --ntasks-per-node=8",
        '#SBATCH --mail-user="ann@acme.example"',
        "#SBATCH --output=logs/%x.%j.out",
    ]
    assert "#SBATCH --nodes=1" in directives
    assert not any("cpus-per-task" in line for line in directives)
    assert "#SBATCH --gres=gpu:h100:8" in directives
    assert "#SBATCH --time=0-02:30:00" in directives
    assert not any(word in line for line in directives for word in ("a100", "-N 4", "12:00:00", "=mine", "per-node=1"))
    assert lines[-2:] == ["module load cuda", "srun ./train \"$@\" '#SBATCH --not-a-directive'"]


def test_what_did_not_agree_is_named() -> None:
    messages = [text for text in own(ONE_A_LINE).messages() if "its script" in text]
    assert [text.partition(" of its script")[0] for text in messages] == [
        "--job-name",
        "--nodes",
        "--gpus-per-node",
        "--time",
    ]
    assert "--nodes of its script is not used: it says 4, planned is --nodes=1" in messages
    assert "--gpus-per-node of its script is not used: it says a100:4, the plan decides this" in messages


def test_what_agrees_is_not_named() -> None:
    assert not any(
        "its script is" in text for text in own("#!/bin/sh\n#SBATCH -N 1\n#SBATCH -A vision\ntrue\n").messages()
    )


def test_the_script_runs_with_what_the_plan_adds(tmp_path: Path) -> None:
    script = own('#!/bin/bash\nset -u\necho "$PLANNER_ADDRESS $A" >"$OUT"\n', "env: {A: 'a b$c'}").script()
    assert lint(script) == ""
    environment = {"PATH": os.defpath, "OUT": str(tmp_path / "out")}
    subprocess.run(["bash", "-c", script], env=environment, check=True)
    assert (tmp_path / "out").read_text() == "job/vision/train a b$c\n"


def test_nothing_is_added_to_a_script_that_no_shell_runs() -> None:
    script = own("#!/usr/bin/python3\nprint(1)\n").script()
    assert "export" not in script.replace("--export", "")
    assert script.endswith("\nprint(1)\n")


def test_another_script_is_another_submission() -> None:
    one, other = (own(f"#!/bin/sh\n./{name}\n").text("submit.sh") for name in "ab")
    assert one != other


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (SCRIPT, "not one option"),
        ("echo\n", "no script"),
        ("#!/bin/sh\r\ntrue\r\n", "Windows"),
        ("#!/bin/sh\n#SBATCH -N 1\n#SBATCH hetjob\n#SBATCH -N 2\ntrue\n", "several components"),
        ("#!/bin/sh\n#SBATCH nonsense\ntrue\n", "not one option"),
        ("#!/bin/sh\n#SBATCH --output=a --array=0-9\ntrue\n", "not one option"),
        ("#!/bin/sh\n#SBATCH -o a -a 0-9\ntrue\n", "not one option"),
        ("#!/bin/sh\n#SBATCH --arr=0-9\ntrue\n", "in full"),
        ("#!/bin/sh\n#SBATCH --nodel=gpu-9\ntrue\n", "in full"),
        ("#!/bin/sh\n#SBATCH -QN4\ntrue\n", "several options"),
        ("#!/bin/sh\n#SBATCH -o a\\ -a0-9\ntrue\n", "not one option"),
    ],
)
def test_a_script_that_cannot_be_laid_over_is_refused(script: str, why: str) -> None:
    site = own(script)
    assert site.rendered.manifests == ()
    assert any(why in text for text in site.messages())


def test_text_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(Unsupported, match="UTF-8"):
        overlay("#!/bin/bash\n", "", b"#!/bin/sh\n\xff\n")


@pytest.mark.parametrize(
    "line",
    ["--wrap=id", "--array=0-9", "-d afterok:1", "--mem-per-gpu=1G", "-H", "--begin=now", "-w gpu-009", "--qos p9"],
)
def test_no_option_of_a_script_moves_what_the_plan_decides(line: str) -> None:
    made = overlay("#!/bin/bash\n#SBATCH --nodes=1\n", "export A=1\n", f"#!/bin/sh\n#SBATCH {line}\ntrue\n".encode())
    assert made.text == "#!/bin/sh\n#SBATCH --nodes=1\n\nexport A=1\ntrue\n"
    assert len(made.conflicts) == 1
