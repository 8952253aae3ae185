"""The exit codes of every verb, as one table: what is promised to whoever calls the planner from a script."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from planner import lockfile
from planner.apply import lease, recording
from planner.apply.backend import BackendError
from planner.cli import VERBS, main, planner_group
from planner.commands import inputs
from planner.exits import Exit
from tests.planner.commands.conftest import FLEET, PLAN, job

AT = "2026-12-01T00:00:00Z"
NOW = "apiVersion: planner/v1\nkind: Snapshot\nname: dc1\ntaken_at: {at}\n"
RECORD = ("--record", "fleet", "--at", AT)
FAR = 4_000_000_000


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Specs, a plan of them that is applied, plans of other specs, and specs with all sorts of faults."""
    folder = tmp_path_factory.mktemp("world")
    trees = {
        "specs": job("a") + job("b", gpus=16, hours=4),
        "less": job("a"),
        "bad": job("a").replace("gpus", "gpuz"),
        "tight": "".join(job(name, gpus=16, hours=30, extra="required: true\n") for name in "ab"),
    }
    for name, jobs in trees.items():
        (folder / name).mkdir()
        (folder / name / "fleet.yaml").write_text(FLEET.replace("2d", "1d") if name == "tight" else FLEET)
        (folder / name / "jobs.yaml").write_text(jobs)
    for hour in (0, 1):
        (folder / f"{hour}h.yaml").write_text(NOW.format(at=AT.replace("T00", f"T0{hour}")))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(PLAN) == Exit.OK
        assert main(("render", "--out", "manifests")) == Exit.OK
        assert main(("apply", "--digest", digest("plan.lock.json"), *RECORD)) == Exit.OK
        late = ("--lock", "plan.lock.json", "--at", "2026-12-01T01:00:00Z")
        assert main((*PLAN, "less", "--out", "less.lock.json", *late)) == Exit.OK
        assert main((*PLAN, "less", "--out", "fresh.lock.json", "--lock", "less.lock.json")) == Exit.OK
        assert main((*PLAN, "tight", "--out", "full.lock.json", "--at", AT)) == Exit.UNSATISFIED
    (folder / "torn.lock.json").write_text((folder / "plan.lock.json").read_text().replace('"P2"', '"P0"'))
    return folder


def digest(lock: str) -> str:
    """The digest of a lock file."""
    return lockfile.read(Path(lock)).digest


@pytest.fixture
def here(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it to work in."""
    folder = tmp_path / "world"
    shutil.copytree(world, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", "/nowhere")
    return folder


Prepare = Callable[[pytest.MonkeyPatch], None]


def held(_patch: pytest.MonkeyPatch) -> None:
    """Somebody else holds the lock of the state folder."""
    lease.take(Path("state/apply.lock"), "ada", "an apply", lambda: FAR)


def refusing(number: int) -> Prepare:
    """The object of this number in a run is refused by its cluster."""
    perform, count = recording.Recording.perform, iter(range(100))

    def refuse(self: recording.Recording, step: Any) -> None:
        if next(count) == number:
            raise BackendError("no more")
        perform(self, step)

    return lambda patch: patch.setattr(recording.Recording, "perform", refuse)


def interrupted(patch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while a lock is read."""

    def stop(_path: Path) -> None:
        raise KeyboardInterrupt

    patch.setattr(inputs, "lock", stop)


APPLY = ("apply", "plan.lock.json", "--digest", "DIGEST", *RECORD)
MATRIX: tuple[tuple[tuple[str, ...], Exit] | tuple[tuple[str, ...], Exit, Prepare], ...] = (
    (("validate",), Exit.OK),
    (("validate", "bad"), Exit.INVALID),
    (("validate", "nowhere"), Exit.USAGE),
    ((*PLAN, "specs"), Exit.OK),
    ((*PLAN, "less", "--detailed-exitcode"), Exit.CHANGES),
    ((*PLAN, "bad"), Exit.INVALID),
    ((*PLAN, "tight"), Exit.UNSATISFIED),
    ((*PLAN, "less", "--enforce"), Exit.BLOCKED),
    ((*PLAN, "tight", "--detailed-exitcode"), Exit.UNSATISFIED),
    ((*PLAN, "--effort", "huge"), Exit.USAGE),
    ((*PLAN, "--lock", "torn.lock.json"), Exit.FAILURE),
    (("show",), Exit.OK),
    (("show", "torn.lock.json"), Exit.FAILURE),
    (("show", "no.lock.json"), Exit.USAGE),
    (("show",), Exit.INTERRUPTED, interrupted),
    (("diff", "plan.lock.json", "less.lock.json"), Exit.OK),
    (("diff", "plan.lock.json", "less.lock.json", "--detailed-exitcode"), Exit.CHANGES),
    (("diff", "plan.lock.json", "plan.lock.json", "--detailed-exitcode"), Exit.OK),
    (("diff", "plan.lock.json", "bad"), Exit.INVALID),
    (("diff", "plan.lock.json", "torn.lock.json"), Exit.FAILURE),
    (("diff", "plan.lock.json", "less.lock.json", "--what", "all"), Exit.USAGE),
    (("render", "--out", "manifests", "--check"), Exit.OK),
    (("render", "--out", "elsewhere", "--check"), Exit.CHANGES),
    (("render", "--out", "manifests", "--specs", "bad"), Exit.INVALID),
    (("render", "--out", "manifests", "--specs", "less"), Exit.STALE),
    (("render",), Exit.USAGE),
    (APPLY, Exit.OK),
    ((*APPLY, "--dry-run"), Exit.OK),
    ((*APPLY, "--state", "new"), Exit.BLOCKED),
    ((*APPLY, "--state", "new", "--record", "new"), Exit.FAILURE, refusing(0)),
    ((*APPLY, "--specs", "bad"), Exit.INVALID),
    ((*APPLY, "--specs", "less"), Exit.STALE),
    (("apply", "plan.lock.json", "--digest", "sha256:" + "0" * 64, *RECORD), Exit.STALE),
    (("apply", "less.lock.json", "--digest", "DIGEST", "--specs", "less", *RECORD), Exit.BLOCKED),
    (
        ("apply", "less.lock.json", "--digest", "DIGEST", "--specs", "less", "--allow-stopped", "99", *RECORD),
        Exit.PARTIAL,
        refusing(1),
    ),
    (APPLY, Exit.BUSY, held),
    (("apply", "plan.lock.json"), Exit.USAGE),
    (("drift", "--record", "fleet", "--at", AT, "--snapshot", "0h.yaml", "--detailed-exitcode"), Exit.OK),
    (("drift", "--at", AT, "--detailed-exitcode"), Exit.FAILURE),
    (("drift", *RECORD, "--snapshot", "0h.yaml", "--specs", "bad"), Exit.INVALID),
    (("drift", "--record", "none", "--at", AT), Exit.OK),
    (("drift", "--record", "none", "--at", AT, "--detailed-exitcode"), Exit.CHANGES),
    (("drift", "--no-objects"), Exit.USAGE),
    (("explain", "vision/a"), Exit.OK),
    (("explain", "vision/a", "full.lock.json", "--specs", "tight"), Exit.UNSATISFIED),
    (("explain", "vision/z"), Exit.USAGE),
    (("whatif", "--budget", "0", "--set", "job/vision/a.gpus=16"), Exit.OK),
    (("whatif", "--budget", "0", "--set", "job/vision/a.gpuz=16"), Exit.INVALID),
    (("whatif", "tight", "--budget", "0", "--set", "job/vision/a.priority=P0"), Exit.UNSATISFIED),
    (("whatif",), Exit.USAGE),
    (("report",), Exit.OK),
    (("report", "torn.lock.json"), Exit.FAILURE),
    (("report", "no.lock.json"), Exit.USAGE),
    (("init", "fleet", "--gpus", "l4:1", "--nodes", "a"), Exit.OK),
    (("init", "fleet", "--from", "bad/jobs.yaml"), Exit.INVALID),
    (("init", "fleet"), Exit.USAGE),
    (("discover", "--root", "."), Exit.OK),
    (("discover", "--root", ".", "--write", "found.yaml", "--check"), Exit.CHANGES),
    (("discover", "--check"), Exit.USAGE),
    (("import", "nowhere.yaml"), Exit.USAGE),
    (("schema",), Exit.OK),
    (("schema", "--format", "xml"), Exit.USAGE),
    (("migrate",), Exit.OK),
    (("migrate", "bad"), Exit.INVALID),
    (("migrate", "nowhere"), Exit.USAGE),
)


def called(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """Arguments with the digest of the lock before it put in."""
    return tuple(digest(arguments[1]) if word == "DIGEST" else word for word in arguments)


@pytest.mark.parametrize("row", MATRIX, ids=lambda row: f"{row[1].name.lower()}: {' '.join(row[0])}")
def test_a_verb_ends_as_the_table_says(
    row: tuple[Any, ...], here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, code, *prepare = row
    words = called(arguments)
    for each in prepare:
        each(monkeypatch)
    assert main(words) == code, capsys.readouterr()
    assert "Traceback" not in capsys.readouterr().err


def test_every_verb_and_every_code_is_in_the_table() -> None:
    assert {row[0][0] for row in MATRIX} == set(VERBS)
    assert {row[1] for row in MATRIX} == set(Exit)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_ends_with_64_for_a_flag_that_it_has_not(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main((verb, "--no-such-flag")) == Exit.USAGE


DOCUMENTS: tuple[tuple[str, ...], ...] = (
    ("validate",),
    ("diff", "plan.lock.json", "less.lock.json"),
    ("drift", "--record", "fleet", "--at", AT, "--snapshot", "0h.yaml"),
    ("report", "plan.lock.json"),
    ("explain", "vision/a"),
    ("show", "catalog"),
)
GUIDE = (Path(__file__).parent.parent.parent / "docs" / "json.md").read_text("utf-8")


@pytest.mark.parametrize("arguments", DOCUMENTS, ids=lambda words: str(words[0]))
def test_a_document_for_programs_has_the_keys_that_are_documented(
    arguments: tuple[str, ...], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main((*arguments, "--format", "json")) == Exit.OK
    found = json.loads(capsys.readouterr().out)
    row = next(line for line in GUIDE.splitlines() if line.startswith(f"| `planner {arguments[0]}"))
    if arguments[0] == "show":
        row = next(line for line in GUIDE.splitlines() if line.startswith("| `planner show catalog"))
    documented, _, more = row.split("|")[2].partition(";")
    keys, extra = (set(re.findall(r"`([a-z_]+)`", text)) for text in (documented, more))
    assert found.pop("format_version") == "1.0"
    assert keys <= found.keys() <= keys | extra


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_that_speaks_json_is_documented(verb: str) -> None:
    command = planner_group.get_command(click.Context(planner_group), verb)
    assert command is not None
    forms = next((option.metavar or "" for option in command.params if option.name == "form"), "")
    speaks = "json" in forms and verb not in ("plan", "discover")
    assert (f"| `planner {verb} " in GUIDE) is speaks
