"""What a script does when bash runs it, with stand-ins for Slurm's own programs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from renderers.apptainer import apptainer_image
from renderers.slurm.body import pyxis_image
from tests.renderers.fleet import a_node
from tests.renderers.slurm.site import POOL, a_cluster, a_site, lint, whole_nodes

PYXIS = "{type: slurm, containers: pyxis}"
APPTAINER = "{type: slurm, containers: apptainer}"
BARE = "{type: slurm, containers: none}"
AMD = "\n  - name: mi300x\n    nodes: amd-[1-2]\n    gpus: {model: mi300x, count: 8}\n    cpus: 64\n    memory: 1Ti\n"

SRUN = f"""#!{sys.executable} -IS
import os, sys
if ":" in sys.argv:
    sys.exit("srun would begin another component here")
open(os.environ["TMPDIR"] + "/argv", "wb").write(os.fsencode("\\0".join(sys.argv[1:])))
command = sys.argv[sys.argv.index("--") + 1 :]
os.execvp(command[0], command)
"""
PROGRAM = f"""#!{sys.executable} -IS
import os, sys
words = [os.path.basename(sys.argv[0]), *sys.argv[1:]]
open(os.environ["TMPDIR"] + "/ran", "wb").write(os.fsencode("\\0".join(words)))
open(os.environ["TMPDIR"] + "/env", "wb").write(b"\\0".join(k + b"=" + v for k, v in os.environb.items()))
"""
SCONTROL = "#!/bin/sh\nprintf 'gpu-001\\ngpu-002\\n'\n"
PROGRAMS = ("a", "apptainer", "python", "run", "torchrun", "true")
Ran = tuple[list[str], list[str], dict[str, str]]


def run(script: str, folder: Path, **environment: str) -> Ran:
    """Run a script with stand-ins: the words of srun, the words of the program that it starts, and its environment.

    As the real one does, srun takes a word `:` for the beginning of another component.
    """
    for name, text in (("srun", SRUN), ("scontrol", SCONTROL), *((name, PROGRAM) for name in PROGRAMS)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    slurm = {"SLURM_JOB_ID": "12345", "SLURM_JOB_NODELIST": "gpu-[001-002]"}
    path = {"PATH": f"{folder}:{os.environ['PATH']}", "TMPDIR": str(folder)}
    subprocess.run(["bash", "-s"], input=script.encode(), env=path | slurm | environment, check=True, cwd=folder)
    argv, ran, pairs = ((folder / name).read_bytes().decode().split("\0") for name in ("argv", "ran", "env"))
    return argv, ran, {name: value for name, _, value in (pair.partition("=") for pair in pairs)}


HOSTILE = (
    "it's",
    'say "hi"',
    "$HOME",
    "$(touch pwned)",
    "`touch pwned`",
    "*",
    "~",
    "a\\b",
    "-x",
    "--wrap=id",
    "#SBATCH --qos=p0",
    "a\nb",
    "\n#SBATCH --qos=p0\n",
    "!!",
    "{{ 7*7 }}",
    "%j",
    ";id",
    "&&",
    "|",
    ">x",
    "é",
    "\u202eRTL",
    "🙂",
    "",
    " ",
    "EOF",
    "a:b",
    ":",
    "'; rm -rf /; '",
    "$'x'",
    "a\tb",
)


def yaml_list(words: tuple[str, ...]) -> str:
    """Words as a flow sequence of YAML."""
    from renderers.environment import yaml_value

    return yaml_value(words)


@pytest.mark.parametrize("backend", [PYXIS, APPTAINER, BARE])
def test_hostile_words_arrive_byte_for_byte_and_run_nothing(backend: str, tmp_path: Path) -> None:
    words = ("python", *HOSTILE)
    site = a_site(f"command: {yaml_list(words)}", "gpus: 8", cluster=a_cluster(backend))
    _, ran, _ = run(site.script(), tmp_path)
    assert tuple(ran[-len(words) :]) == words
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_value_arrives_in_the_environment(text: str, tmp_path: Path) -> None:
    site = a_site("command: ['true']", "gpus: 8", f"env: {{VALUE: {yaml_list((text,))[1:-1]}}}")
    _, _, environment = run(site.script(), tmp_path)
    assert environment["VALUE"] == text
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(
    "name",
    ["UID", "RANDOM", "SECONDS", "GROUPS", "PPID", "LINENO", "name", "hosts", "IFS", "LD_LIBRARY_PATH", "SLURM_JOB_ID"],
)
def test_a_variable_that_bash_has_its_own_use_for_arrives_too(name: str, tmp_path: Path) -> None:
    site = a_site("command: ['true']", "gpus: 8", f'env: {{{name}: "7 x"}}')
    _, _, environment = run(site.script(), tmp_path)
    assert environment[name] == "7 x"


def test_a_jobs_own_path_is_the_programs_and_not_that_of_srun(tmp_path: Path) -> None:
    site = a_site("command: [torchrun, t.py]", "gpus: 8", f"env: {{PATH: '{tmp_path}:/opt/x'}}")
    argv, _, environment = run(site.script(), tmp_path)
    assert environment["PATH"] == f"{tmp_path}:/opt/x"
    assert argv[argv.index("--") + 1 :] == ["env", f"PATH={tmp_path}:/opt/x", "torchrun", "t.py"]


@pytest.mark.parametrize("backend", [PYXIS, APPTAINER, BARE])
def test_a_colon_among_the_words_begins_no_other_component(backend: str, tmp_path: Path) -> None:
    site = a_site("command: [run, ':', \"it's\", ':']", "gpus: 8", cluster=a_cluster(backend))
    argv, ran, _ = run(site.script(), tmp_path)
    assert argv[argv.index("--") + 1 :][:2] == ["/bin/sh", "-c"]
    assert ran[-4:] == ["run", ":", "it's", ":"]


def test_no_script_holds_a_line_break_that_sbatch_refuses() -> None:
    from renderers.environment import shell_value

    word = shell_value("a\r\nb\rc")
    assert "\r" not in word
    printed = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, check=True).stdout
    assert printed == b"a\r\nb\rc"


@pytest.mark.parametrize(
    ("fields", "backend", "nodes"),
    [
        (("command: [torchrun, 'a b', '$x']", "gpus: 8"), PYXIS, 1),
        (("command: [torchrun, t.py]", "gpus: 16", "env: {A: '$x', T: {secret: s, key: k}}"), APPTAINER, 2),
        (("command: ['true']", "gpus: 8", "env: {T: {secret: s, key: k}, U: {secret: s, key: u}, UID: '1'}"), BARE, 1),
        (("command: ['true']", "gpus: 16", "tasks_per_node: 8"), PYXIS, 2),
    ],
)
def test_bash_and_shellcheck_find_nothing(fields: tuple[str, ...], backend: str, nodes: int) -> None:
    assert lint(a_site(*fields, nodes=whole_nodes(nodes), cluster=a_cluster(backend)).script()) == ""


def test_a_gang_meets_on_its_first_node(tmp_path: Path) -> None:
    site = a_site("command: [torchrun, train.py]", "gpus: 16", nodes=whole_nodes(2))
    _, _, environment = run(site.script(), tmp_path)
    expected = {
        "MASTER_ADDR": "gpu-001",
        "MASTER_PORT": "22345",
        "PET_NNODES": "2",
        "PET_NPROC_PER_NODE": "8",
        "PET_RDZV_BACKEND": "c10d",
        "PET_RDZV_ENDPOINT": "gpu-001:22345",
        "PET_RDZV_ID": "12345",
        "SLURM_EXPORT_ENV": "ALL",
    }
    assert {name: environment[name] for name in expected} == expected


def test_a_heterogeneous_gang_meets_on_the_first_node_of_its_first_part(tmp_path: Path) -> None:
    nodes = (a_node("gpu-001", 0, role="master"), a_node("gpu-002", *range(8), role="worker"))
    roles = "roles: [{name: master, gpus: 1}, {name: worker, gpus: 8}]"
    site = a_site("command: [torchrun, train.py]", roles, nodes=nodes)
    _, _, environment = run(site.script(), tmp_path, SLURM_JOB_NODELIST_HET_GROUP_0="gpu-001")
    assert environment["MASTER_ADDR"] == "gpu-001"
    assert environment["PET_NPROC_PER_NODE"] == "auto"


def test_single_node_jobs_of_one_host_do_not_meet_each_other(tmp_path: Path) -> None:
    site = a_site("command: [torchrun, train.py]", "gpus: 4", nodes=(a_node("gpu-001", 0, 1, 2, 3),))
    _, _, environment = run(site.script(), tmp_path)
    assert environment["PET_RDZV_ENDPOINT"] == "localhost:0"
    assert environment["PET_NPROC_PER_NODE"] == "4"
    assert "MASTER_ADDR" not in environment


def test_torchrun_is_told_nothing_where_slurm_starts_a_task_a_device() -> None:
    assert "PET_" not in a_site("command: [python, t.py]", "gpus: 8", "tasks_per_node: 8").script()


def test_a_jobs_own_variables_win(tmp_path: Path) -> None:
    site = a_site("command: ['true']", "gpus: 8", "env: {PET_NPROC_PER_NODE: '2', PLANNER_START: never}")
    _, _, environment = run(site.script(), tmp_path)
    assert environment["PET_NPROC_PER_NODE"] == "2"
    assert environment["PLANNER_START"] == "never"


@pytest.mark.parametrize(
    ("pool", "node", "pools", "kept", "gone"),
    [
        ("h100", "gpu-001", POOL, "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"),
        ("mi300x", "amd-1", AMD, "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"),
    ],
)
def test_devices_are_slurms_choice_and_other_vendors_variables_go(
    pool: str, node: str, pools: str, kept: str, gone: str, tmp_path: Path
) -> None:
    vendor = "amd" if pool == "mi300x" else "nvidia"
    site = a_site(
        "command: ['true']", f"gpus: {{count: 8, vendor: {vendor}}}", pool=pool, nodes=(a_node(node, *range(8)),),
        cluster=a_cluster(pools=pools),
    )  # fmt: skip
    _, _, environment = run(
        site.script(), tmp_path, CUDA_VISIBLE_DEVICES="0", ROCR_VISIBLE_DEVICES="0", HIP_VISIBLE_DEVICES="0"
    )
    assert environment[kept] == "0"
    assert gone not in environment
    assert "HIP_VISIBLE_DEVICES" not in environment


def test_a_secret_must_be_there_and_is_passed_on(tmp_path: Path) -> None:
    site = a_site("command: ['true']", "gpus: 8", "env: {TOKEN: {secret: hf, key: token}}")
    _, _, environment = run(site.script(), tmp_path, TOKEN="a b'c")
    assert environment["TOKEN"] == "a b'c"
    assert "login environment" in " ".join(site.messages())


def test_without_its_secret_a_job_stops_before_it_wastes_devices(tmp_path: Path) -> None:
    site = a_site("command: ['true']", "gpus: 8", "env: {TOKEN: {secret: hf, key: token}}")
    with pytest.raises(subprocess.CalledProcessError) as failure:
        run(site.script(), tmp_path)
    assert failure.value.returncode == 78
    assert not (tmp_path / "argv").exists()


@pytest.mark.parametrize(
    ("image", "pyxis", "apptainer"),
    [
        ("registry.acme/team/train:2.9", "registry.acme#team/train:2.9", "docker://registry.acme/team/train:2.9"),
        ("reg.local:5443/app:1", "reg.local:5443#app:1", "docker://reg.local:5443/app:1"),
        ("reg.local:5443#team/app:1", "reg.local:5443#team/app:1", "docker://reg.local:5443/team/app:1"),
        ("localhost/app", "localhost#app", "docker://localhost/app"),
        ("pytorch/pytorch:2.9", "pytorch/pytorch:2.9", "docker://pytorch/pytorch:2.9"),
        ("ubuntu", "ubuntu", "docker://ubuntu"),
        ("/images/train.sqsh", "/images/train.sqsh", "/images/train.sqsh"),
        ("/images/train.sif", "/images/train.sif", "/images/train.sif"),
        ("oras://reg.io/a:1", "oras://reg.io/a:1", "oras://reg.io/a:1"),
    ],
)
def test_each_container_tool_gets_the_image_in_its_spelling(image: str, pyxis: str, apptainer: str) -> None:
    assert pyxis_image(image) == pyxis
    assert apptainer_image(image) == apptainer


def test_pyxis_gets_image_and_mounts_on_the_line_of_srun(tmp_path: Path) -> None:
    mounts = "mounts: [{path: /data, host: /srv/data, read_only: true}, {path: /out, host: /srv/out}]"
    site = a_site("command: [a]", "image: reg.local:5443/app:1", "gpus: 8", mounts, cluster=a_cluster(PYXIS))
    argv, ran, _ = run(site.script(), tmp_path)
    assert "--container-image=reg.local:5443#app:1" in argv
    assert "--container-mounts=/srv/data:/data:ro,/srv/out:/out" in argv
    assert ran == ["a"]


@pytest.mark.parametrize(
    ("pool", "node", "pools", "flag"), [("h100", "gpu-001", POOL, "--nv"), ("mi300x", "amd-1", AMD, "--rocm")]
)
def test_apptainer_gets_the_vendors_flag(pool: str, node: str, pools: str, flag: str, tmp_path: Path) -> None:
    vendor = "amd" if pool == "mi300x" else "nvidia"
    site = a_site(
        "command: [a]", "image: reg.io/a:1", f"gpus: {{count: 8, vendor: {vendor}}}", "mounts: [{path: /d, host: /s}]",
        pool=pool, nodes=(a_node(node, *range(8)),), cluster=a_cluster(APPTAINER, pools),
    )  # fmt: skip
    _, ran, _ = run(site.script(), tmp_path)
    assert ran == ["apptainer", "exec", flag, "--bind", "/s:/d", "docker://reg.io/a:1", "a"]


def test_without_a_command_apptainer_runs_what_the_image_says_and_pyxis_is_refused(tmp_path: Path) -> None:
    _, ran, _ = run(a_site("gpus: 8", cluster=a_cluster(APPTAINER)).script(), tmp_path)
    assert ran[:2] == ["apptainer", "run"]
    site = a_site("gpus: 8", cluster=a_cluster(PYXIS))
    assert site.rendered.manifests == ()
    assert "Write its command" in site.messages()[0]


@pytest.mark.parametrize("path", ["/a,/etc:/etc", "/a:ro", "/a\\"])
def test_a_mount_that_would_be_read_as_another_is_refused(path: str) -> None:
    site = a_site("command: [a]", "gpus: 8", f"mounts: [{{path: /d, host: {yaml_list((path,))[1:-1]}}}]")
    assert site.rendered.manifests == ()
    assert "container tools read as their own" in site.messages()[0]


def test_what_slurm_cannot_do_for_a_job_is_said() -> None:
    site = a_site(
        "command: [a]", "gpus: {count: 2, link: required}", "user: '1000'", "pull_secrets: [reg]",
        "service_account: sa", "mounts: [{path: /c, claim: cache}]",
        nodes=(a_node("gpu-001", 0, 1),), cluster=a_cluster(BARE),
    )  # fmt: skip
    said = " ".join(site.messages())
    for words in (
        "linked is best effort",
        "whoever submits it",
        "credentials",
        "service accounts",
        "claims and",
        "its image is not used",
    ):
        assert words in said
    assert any("earliest" in item for item in site.messages("cluster/hpc"))


def test_a_plain_job_has_nothing_said_of_it() -> None:
    assert a_site("command: [a]", "gpus: 8").messages() == []
