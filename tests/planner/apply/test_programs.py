"""Back ends that are programs of this machine: Slurm, Compose, and what runs them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from planner.apply import compose, slurm
from planner.apply.backend import Answer, BackendError, Call, Programs, run, without_secrets
from planner.apply.compose import Compose
from planner.apply.item import Action, Item, Presence, Rank, Record, Step, digest_of
from planner.apply.slurm import Slurm
from planner.apply.workfiles import WorkFiles
from planner.diagnostics import Blocked
from planner.spec.backend import Backend, BackendType, ComposeHost, Engine

SCRIPT = "#!/bin/bash\n#SBATCH --job-name=vision.resnet-1a2b3c4d\n#SBATCH --nodes=1\n"


def project(*services: str) -> str:
    """A Compose project as the renderer writes it."""
    body = "".join(f"  {name}:\n    image: r/x:1\n" for name in services)
    return f"name: shop-till\nservices:\n{body}x-planner:\n  host: till\n"


def an_item(key: str, text: str, backend: BackendType = BackendType.SLURM) -> Item:
    """An object of a cluster of programs."""
    refs, rank = (slurm if backend is BackendType.SLURM else compose).names_of(key, text)
    record = Record(
        key=key, cluster=key.partition("/")[0], backend=backend, rank=rank, refs=refs, digest=digest_of(text)
    )
    return Item(record=record, text=text)


def put(item: Item, before: Item | None = None) -> Step:
    """The step that makes an object as wanted."""
    return Step(number=0, action=Action.PUT, record=item.record, item=item, before=before.record if before else None)


def removal(item: Item) -> Step:
    """The step that removes an object."""
    return Step(number=0, action=Action.REMOVE, record=item.record)


@dataclass
class Answers:
    """Keeps calls and answers them by their first word."""

    by_word: Mapping[str, Answer] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)

    def __call__(self, call: Call) -> Answer:
        """Answer one call."""
        self.calls.append(call)
        return self.by_word.get(call.argv[0], Answer(code=0))

    @property
    def lines(self) -> list[str]:
        """The calls as lines."""
        return [call.sentence for call in self.calls]


def a_slurm(root: Path, runner: Answers) -> Slurm:
    """A Slurm cluster with its work folder."""
    return Slurm(files=WorkFiles(root=root), runner=runner)


def test_a_script_is_written_and_the_program_submits(tmp_path: Path) -> None:
    runner = Answers()
    cluster = a_slurm(tmp_path, runner)
    script, program = an_item("hpc/jobs/vision.resnet.sbatch", SCRIPT), an_item("hpc/submit.sh", "#!/bin/sh\n")
    assert script.record.refs == ("vision.resnet-1a2b3c4d",)
    assert (script.record.rank, program.record.rank) == (Rank.WORKLOAD, Rank.PROGRAM)
    cluster.perform(put(script))
    assert runner.calls == []
    cluster.perform(put(program))
    assert (tmp_path / "hpc/jobs/vision.resnet.sbatch").read_text() == SCRIPT
    assert [(call.argv, call.folder) for call in runner.calls] == [(("sh", "./submit.sh"), tmp_path / "hpc")]


def test_a_job_that_is_gone_or_is_another_run_is_cancelled_by_its_name(tmp_path: Path) -> None:
    runner = Answers()
    cluster, old = a_slurm(tmp_path, runner), an_item("hpc/jobs/vision.resnet.sbatch", SCRIPT)
    new = an_item("hpc/jobs/vision.resnet.sbatch", SCRIPT.replace("1a2b3c4d", "99999999"))
    cluster.perform(put(new, before=old))
    cluster.perform(removal(new))
    cluster.perform(removal(new))
    assert runner.lines == [
        "scancel --me --name=vision.resnet-1a2b3c4d",
        "scancel --me --name=vision.resnet-99999999",
        "scancel --me --name=vision.resnet-99999999",
    ]
    assert not (tmp_path / "hpc/jobs/vision.resnet.sbatch").exists()


@pytest.mark.parametrize("name", ["", "--all", "a b", "a,b", "$(x)", "a\nb", "x" * 129])
def test_hostile_job_names_of_an_inventory_reach_no_program(name: str, tmp_path: Path) -> None:
    runner = Answers()
    record = Record(key="hpc/jobs/x", cluster="hpc", backend=BackendType.SLURM, rank=Rank.WORKLOAD, refs=(name,))
    with pytest.raises(BackendError, match="is not the name of a Slurm job"):
        a_slurm(tmp_path, runner).perform(Step(number=0, action=Action.REMOVE, record=record))
    assert runner.calls == []


def test_whose_a_queued_job_is_says_its_comment(tmp_path: Path) -> None:
    item = an_item("hpc/jobs/vision.resnet.sbatch", SCRIPT)
    for line, whose in (
        ("vision.resnet-1a2b3c4d|planner:job/vision/resnet@1a2b3c4d", Presence.OURS),
        ("vision.resnet-1a2b3c4d|(null)", Presence.FOREIGN),
        ("other|planner:job/vision/other@1", Presence.ABSENT),
    ):
        runner = Answers({"squeue": Answer(code=0, out=f"{line}\n")})
        assert a_slurm(tmp_path, runner).presence([item]) == {item.key: whose}


def a_compose(root: Path, runner: Answers, *, trusts: bool = False, **options: object) -> Compose:
    """A cluster of Compose hosts with its work folder."""
    backend = Backend.model_validate({"type": BackendType.COMPOSE, **options})
    return Compose(cluster="shop", options=backend, files=WorkFiles(root=root), runner=runner, trusts_commands=trusts)


def of_host(*services: str) -> Item:
    """The project of the host `till`."""
    return an_item("shop/till/compose.yaml", project(*services), BackendType.COMPOSE)


def test_a_project_is_checked_kept_and_never_started(tmp_path: Path) -> None:
    runner = Answers()
    a_compose(tmp_path, runner).perform(put(of_host("v.a", "v.b")))
    assert runner.lines == ["docker compose --file - config --quiet < shop/till/compose.yaml"]
    assert runner.calls[0].stdin == project("v.a", "v.b")
    assert (tmp_path / "shop/till/compose.yaml").read_text() == project("v.a", "v.b")


def test_services_that_leave_a_project_are_stopped_by_the_file_that_has_them(tmp_path: Path) -> None:
    runner = Answers()
    cluster, old, new = a_compose(tmp_path, runner, engine=Engine.PODMAN), of_host("v.a", "v.b"), of_host("v.b")
    cluster.perform(put(old))
    cluster.perform(put(new, before=old))
    cluster.perform(put(new, before=old))
    assert runner.lines[1:] == [
        "podman compose --file - rm --stop --force v.a < shop/till/compose.yaml",
        "podman compose --file - config --quiet < shop/till/compose.yaml",
        "podman compose --file - config --quiet < shop/till/compose.yaml",
    ]
    assert runner.calls[1].stdin == old.text


def test_a_host_without_work_is_taken_down_by_the_name_of_its_project(tmp_path: Path) -> None:
    runner = Answers()
    cluster, item = a_compose(tmp_path, runner), of_host("v.a", "v.b")
    cluster.perform(put(item))
    cluster.perform(removal(item))
    assert runner.lines[1:] == ["docker compose --project-name shop-till down"]
    assert not (tmp_path / "shop/till/compose.yaml").exists()


def test_a_command_of_the_specs_runs_only_where_it_is_trusted(tmp_path: Path) -> None:
    hosts = (ComposeHost(node="till", command=("ssh", "till", "docker", "compose")),)
    runner = Answers()
    with pytest.raises(Blocked, match="If that is meant: --trust-commands"):
        a_compose(tmp_path, runner, hosts=hosts).perform(put(of_host("v.a")))
    assert runner.calls == []
    a_compose(tmp_path, runner, trusts=True, hosts=hosts).perform(put(of_host("v.a")))
    assert runner.lines == ["ssh till docker compose --file - config --quiet < shop/till/compose.yaml"]


@pytest.mark.parametrize("ref", ["", "--help/x", "shop-till/-x", "Shop/x", "shop-till/a b", "shop-till"])
def test_hostile_services_of_an_inventory_reach_no_program(ref: str, tmp_path: Path) -> None:
    runner = Answers()
    record = Record(
        key="shop/till/compose.yaml", cluster="shop", backend=BackendType.COMPOSE, rank=Rank.WORKLOAD, refs=(ref,)
    )
    with pytest.raises(BackendError, match="is not the name of a Compose service"):
        a_compose(tmp_path, runner).perform(Step(number=0, action=Action.REMOVE, record=record))
    assert runner.calls == []


@pytest.mark.parametrize("key", ["../x", "/etc/x", "a/../../x", "a//b", "a\\b", "a\0b", "a/./b"])
def test_files_stay_in_the_work_folder(key: str, tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="does not stay inside"):
        WorkFiles(root=tmp_path / "work").write(key, "x")
    assert list(tmp_path.iterdir()) == []


def test_files_are_not_written_through_a_symbolic_link(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "hpc").symlink_to(tmp_path)
    with pytest.raises(BackendError, match="refusing to follow the symbolic link"):
        WorkFiles(root=tmp_path / "work").write("hpc/x", "x")
    assert not (tmp_path / "x").exists()


def test_a_program_gets_its_arguments_as_they_are_and_no_shell() -> None:
    programs = Programs({"PATH": "/usr/bin:/bin"})
    answer = run(programs, Call(argv=("printf", "%s|", "$(id)", "a b", ";")))
    assert answer.out == "$(id)|a b|;|"
    assert run(programs, Call(argv=("cat",), stdin="é")).out == "é"


def test_a_program_that_is_missing_fails_or_hangs_is_told() -> None:
    programs = Programs({"PATH": "/usr/bin:/bin"}, seconds=1)
    with pytest.raises(BackendError, match="there is no program 'no-such-program'"):
        programs(Call(argv=("no-such-program",)))
    with pytest.raises(BackendError, match="'false …' ended with 1: without a word"):
        run(programs, Call(argv=("false",)))
    with pytest.raises(BackendError, match="'sleep' did not end within 1 s"):
        programs(Call(argv=("sleep", "60")))


def test_values_of_secret_variables_and_credentials_are_not_shown() -> None:
    environment = {"HF_TOKEN": "hf_abcdef", "AWS_SECRET_ACCESS_KEY": "wJalr/x", "DB_PASSWORD": "abc", "HOME": "/root"}
    text = "hf_abcdef at /root with wJalr/x; Authorization: Bearer eyJhbGciOi.xx; abc"
    shown = "*** at /root with ***; Authorization: Bearer ***; abc"
    assert without_secrets(text, environment) == shown


def with_addresses() -> Item:
    """A project whose services name their addresses."""
    text = project("v.a").replace("image: r/x:1\n", "image: r/x:1\n    x-planner: {address: job/v/a}\n")
    return an_item("shop/till/compose.yaml", text, BackendType.COMPOSE)


@pytest.mark.parametrize(("containers", "starts"), [("", True), ("0123abcd\n", False)])
def test_a_service_is_started_once_even_if_it_has_ended(containers: str, starts: bool, tmp_path: Path) -> None:
    runner = Answers()
    cluster, item = a_compose(tmp_path, runner), with_addresses()
    cluster.perform(put(item))
    runner.by_word = {"docker": Answer(code=0, out=containers)}
    assert cluster.release(item.record, "job/v/a") is starts
    up = ["docker compose --file - up --detach --no-recreate v.a < shop/till/compose.yaml"]
    assert runner.lines[1:] == [
        "docker compose --file - ps --all --quiet v.a < shop/till/compose.yaml", *(up if starts else [])
    ]  # fmt: skip


def test_an_address_without_a_service_is_not_released(tmp_path: Path) -> None:
    cluster, item = a_compose(tmp_path, Answers()), with_addresses()
    with pytest.raises(BackendError, match="has no service for job/v/a"):
        cluster.release(item.record, "job/v/a")
    cluster.perform(put(item))
    with pytest.raises(BackendError, match="has no service for job/v/b"):
        cluster.release(item.record, "job/v/b")


@pytest.mark.parametrize(("containers", "stops"), [("", False), ("0123abcd\n", True)])
def test_a_container_that_runs_is_stopped_and_taken_away_so_that_it_may_begin_anew(
    containers: str, stops: bool, tmp_path: Path
) -> None:
    runner = Answers()
    cluster, item = a_compose(tmp_path, runner), with_addresses()
    cluster.perform(put(item))
    runner.by_word = {"docker": Answer(code=0, out=containers)}
    assert cluster.interrupt(item.record, "job/v/a") is stops
    ends = [f"docker compose --file - {words} v.a < shop/till/compose.yaml" for words in ("stop", "rm --force")]
    assert runner.lines[1:] == [
        "docker compose --file - ps --quiet v.a < shop/till/compose.yaml", *(ends if stops else [])
    ]  # fmt: skip
    with pytest.raises(BackendError, match="has no service for job/v/b"):
        cluster.interrupt(item.record, "job/v/b")


QUEUE = "squeue --me --noheader '--format=%j|%T|%i|%Q|%k'"


@pytest.mark.parametrize(
    ("row", "interrupts", "releases"),
    [
        ("vision.resnet-1a2b3c4d|RUNNING|17|4294|planner:job/vision/resnet@1", True, False),
        ("vision.resnet-1a2b3c4d|RUNNING|17_3|4294|planner:job/vision/resnet@1", True, False),
        ("vision.resnet-1a2b3c4d|PENDING|17|0|planner:job/vision/resnet@1", False, True),
        ("vision.resnet-1a2b3c4d|PENDING|17|4294|planner:job/vision/resnet@1", False, False),
        ("vision.other-1a2b3c4d|RUNNING|17|4294|planner:job/vision/other@1", False, False),
        ("vision.resnet-1a2b3c4d|RUNNING|17|4294|somebody else's", False, False),
        ("vision.resnet-1a2b3c4d|RUNNING|17;id|4294|planner:job/vision/resnet@1", False, False),
        ("", False, False),
    ],
)
def test_slurm_holds_and_lets_go_only_our_jobs_of_the_script(
    row: str, interrupts: bool, releases: bool, tmp_path: Path
) -> None:
    script = an_item("hpc/jobs/vision.resnet.sbatch", SCRIPT)
    number = row.split("|")[2] if row else ""
    for act, acts, words in (("interrupt", interrupts, "requeuehold"), ("release", releases, "release")):
        runner = Answers()
        runner.by_word = {"squeue": Answer(code=0, out=row + "\n")}
        assert getattr(a_slurm(tmp_path, runner), act)(script.record, "job/vision/resnet") is acts
        assert runner.lines == [QUEUE, *([f"scontrol {words} {number}"] if acts else [])]
