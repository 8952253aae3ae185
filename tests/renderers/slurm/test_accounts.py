"""Accounts and QOS: what should be, what differs from what Slurm shows, and the commands that change only that."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from planner.plan import Plan
from planner.specset import SpecSet
from planner.units import parse_time
from renderers.refusal import Unsupported
from renderers.slurm import render, sacctmgr
from renderers.slurm.accounts import Account, Qos, State, account_name, planned
from tests.renderers.fleet import HOUR, START, a_node, a_placement, a_segment, plan_of
from tests.renderers.slurm.shared import QUOTAS, TEAMS, a_plan, a_schedule, shared, train
from tests.renderers.slurm.site import lint

QOS_SHOWN = """\
normal|0||cluster|00:00:00|
p3|1000|p3-borrowed|requeue|00:02:00|05:00:00
debug|9|normal|cluster|1-00:00:00|
"""
ASSOC_SHOWN = """\
lab|root|||1||normal
lab|root||root|1||normal
lab|vision|research||3|cpu=64,gres/gpu:h100=16,mem=1T|long,normal,p3
lab|vision||ann|1||normal,p3
lab|nlp|root||parent||normal
other|vision|root||1||normal
"""
"""What a real `sacctmgr -nP` shows, with lines of others."""


def state_of(specs: SpecSet, plan: Plan, moment: int | None = None) -> State:
    """What should be for cluster hpc."""
    return planned(plan, specs, specs.cluster("hpc"), moment)


def limits(state: State) -> dict[str, dict[str, int | None]]:
    """The limits of accounts by name."""
    return {item.name: dict(item.limits) for item in state.accounts}


def preempts(state: State) -> dict[str, set[str]]:
    """Whose work makes room, by the QOS that it makes room for."""
    return {item.name: set(item.preempt) for item in state.qos}


def test_each_team_has_an_account_within_its_guarantee_and_one_beyond() -> None:
    specs = shared(train())
    state = state_of(specs, a_plan(specs))
    assert [(item.name, item.parent, item.fairshare) for item in state.accounts] == [
        ("nlp_01", "root", 1),
        ("research", "root", 1),
        ("vision", "research", 3),
        ("nlp_01-borrowed", "root", 1),
        ("research-borrowed", "root", 1),
        ("vision-borrowed", "research-borrowed", 3),
    ]
    assert limits(state) == {
        "nlp_01": {"gres/gpu:h100": 16},
        "research": {"gres/gpu:h100": None},
        "vision": {"gres/gpu:h100": 32},
        "nlp_01-borrowed": {"gres/gpu:h100": None},
        "research-borrowed": {"gres/gpu:h100": None},
        "vision-borrowed": {"gres/gpu:h100": 64},
    }


def test_users_are_members_whose_names_are_those_of_users() -> None:
    specs = shared(train())
    assert state_of(specs, a_plan(specs)).users == (
        ("cy", "nlp_01"),
        ("cy", "nlp_01-borrowed"),
        ("ann", "vision"),
        ("ann", "vision-borrowed"),
        ("bo", "vision"),
        ("bo", "vision-borrowed"),
    )
    told = render(a_plan(specs), specs, specs.cluster("hpc")).degraded
    assert [item.message for item in told if item.address == "team/vision"] == [
        "@acme/leads: not a user of Slurm, so not added"
    ]


def test_borrowed_work_makes_room_for_all_guaranteed_work_and_guaranteed_work_for_none() -> None:
    specs = shared(train("min_run: 10m"))
    state = state_of(specs, a_plan(specs, borrowed=1))
    borrowed = {f"p{rank}-borrowed" for rank in range(4)}
    assert preempts(state) == {
        "p3-borrowed": set(),
        "p2-borrowed": {"p3-borrowed"},
        "p1-borrowed": {"p2-borrowed", "p3-borrowed"},
        "p0-borrowed": {"p1-borrowed", "p2-borrowed", "p3-borrowed"},
        **{f"p{rank}": borrowed for rank in range(4)},
    }
    ranked = [item.name for item in sorted(state.qos, key=lambda item: item.priority)]
    assert ranked == [f"p{rank}{end}" for end in ("-borrowed", "") for rank in (3, 2, 1, 0)]
    assert {item.name: item.exempt_seconds for item in state.qos if item.exempt_seconds} == {"p2-borrowed": 600}


def test_without_quotas_the_more_urgent_work_interrupts_the_less_urgent() -> None:
    specs = shared(train(), quotas="")
    state = state_of(specs, a_plan(specs))
    assert preempts(state) == {"p3": set(), "p2": {"p3"}, "p1": {"p2", "p3"}, "p0": {"p1", "p2", "p3"}}
    assert limits(state)["vision"] == {"gres/gpu:h100": None}
    assert all("borrowed" not in name for name in limits(state))


@pytest.mark.parametrize(("borrowed", "end"), [(0, ""), (2, "-borrowed")])
def test_a_job_runs_in_the_account_and_qos_of_its_part_of_the_quota(borrowed: int, end: str) -> None:
    specs = shared(train())
    rendered = render(a_plan(specs, borrowed=borrowed), specs, specs.cluster("hpc"))
    (script,) = [item.text for item in rendered.manifests if item.path.endswith(".sbatch")]
    assert f"#SBATCH --account=vision{end}\n" in script
    assert f"#SBATCH --qos=p2{end}\n" in script


@pytest.mark.parametrize(
    ("hour", "expected"),
    [(0, 32), (11, 32), (12, 48), (23, 48), (24, 13), (100, 13)],
)
def test_a_limit_is_what_is_guaranteed_at_the_moment_and_a_part_of_a_device_is_one(hour: int, expected: int) -> None:
    specs = shared(train())
    plan = a_plan(specs, schedules=(a_schedule("vision-h100", 32, 48, "25/2"),))
    state = state_of(specs, plan, parse_time(START, "UTC") + hour * HOUR)
    assert limits(state)["vision"] == {"gres/gpu:h100": expected}


def test_a_team_without_a_quota_where_another_has_one_has_nothing_guaranteed() -> None:
    specs = shared(train(), quotas=QUOTAS.partition("---")[0])
    assert limits(state_of(specs, a_plan(specs)))["nlp_01"] == {"gres/gpu:h100": 0}


def test_where_types_are_not_written_devices_are_counted_without() -> None:
    specs = shared(train(), backend="{type: slurm, typed: false}")
    assert limits(state_of(specs, a_plan(specs)))["vision"] == {"gres/gpu": 32}


def test_two_teams_of_one_account_have_the_sum_of_their_guarantees() -> None:
    specs = shared(train(), teams=TEAMS.replace("account: nlp_01", "account: vision"))
    found = limits(state_of(specs, a_plan(specs)))
    assert found["vision"] == {"gres/gpu:h100": 48}
    assert found["vision-borrowed"] == {"gres/gpu:h100": None}


def test_a_name_that_cannot_stand_in_a_command_is_refused() -> None:
    specs = shared(train(), teams=TEAMS.replace("account: nlp_01", "account: 'a;b'"))
    with pytest.raises(Unsupported, match="a;b"):
        account_name(specs.team("nlp"), borrowed=False)
    rendered = render(a_plan(specs), specs, specs.cluster("hpc"))
    paths = {item.path for item in rendered.manifests}
    assert "hpc/accounts.sh" not in paths
    assert {"hpc/jobs/vision.train.sbatch", "hpc/submit.sh", "hpc/proposals/gres.conf"} <= paths
    assert any(item.message.startswith("no accounts are written: ") for item in rendered.degraded)


def test_what_slurm_shows_is_read() -> None:
    assert sacctmgr.parse(QOS_SHOWN, ASSOC_SHOWN, "lab") == State(
        qos=(
            Qos(name="normal", preempt_mode="cluster", grace_seconds=0),
            Qos(name="p3", priority=1000, preempt=("p3-borrowed",), grace_seconds=120, exempt_seconds=18_000),
            Qos(name="debug", priority=9, preempt=("normal",), preempt_mode="cluster", grace_seconds=86_400),
        ),
        accounts=(
            Account(
                name="vision",
                parent="research",
                fairshare=3,
                limits=(("cpu", 64), ("gres/gpu:h100", 16)),
                qos=("long", "normal", "p3"),
            ),
            Account(name="nlp", fairshare=0, qos=("normal",)),
        ),
        users=(("ann", "vision"), ("root", "root")),
    )


@pytest.mark.parametrize("text", ["p3|1000", "p3|1|||||", "error: no such thing"])
def test_an_answer_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="does not have"):
        sacctmgr.parse(text, "", "lab")


def test_nothing_is_told_where_nothing_differs() -> None:
    specs = shared(train())
    state = state_of(specs, a_plan(specs))
    assert sacctmgr.difference(state, state, "lab") == ()


def test_from_nothing_all_is_made_parents_first() -> None:
    specs = shared(train())
    told = sacctmgr.stream(sacctmgr.difference(State(), state_of(specs, a_plan(specs)), "lab")).splitlines()
    assert told.index("add account research parent=root cluster=lab") < told.index(
        "add account vision parent=research cluster=lab"
    )
    assert (
        "modify qos set Priority=2000 Preempt=p3-borrowed PreemptMode=requeue GraceTime=120 where name=p2-borrowed"
        in told
    )
    assert (
        "modify account set Fairshare=3 GrpTRES=gres/gpu:h100=32 QOS+=p3,p2,p1,p0 where name=vision cluster=lab" in told
    )
    assert "add user ann account=vision-borrowed cluster=lab" in told


ACCOUNT = Account(name="a", limits=(("gres/gpu:h100", 8),), qos=("p0",))


@pytest.mark.parametrize(
    ("current", "expected"),
    [
        (Account(name="a", limits=(("cpu", 9), ("gres/gpu:h100", 8)), qos=("long", "p0")), ""),
        (Account(name="a", limits=(("gres/gpu:h100", 9),), qos=("p0",)), "GrpTRES=gres/gpu:h100=8"),
        (Account(name="a", qos=("p0",)), "GrpTRES=gres/gpu:h100=8"),
        (Account(name="a", limits=ACCOUNT.limits, qos=("p1",)), "QOS+=p0"),
        (Account(name="a", limits=ACCOUNT.limits, qos=("p0",), fairshare=2), "Fairshare=1"),
        (Account(name="a", limits=ACCOUNT.limits, qos=("p0",), parent="b"), "Parent=root"),
    ],
)
def test_only_the_difference_of_an_account_is_told(current: Account, expected: str) -> None:
    told = sacctmgr.difference(State(accounts=(current,)), State(accounts=(ACCOUNT,)))
    assert sacctmgr.stream(told) == (f"modify account set {expected} where name=a\n" if expected else "")


def test_a_limit_that_no_quota_asks_for_any_more_is_taken_away() -> None:
    free = Account(name="a", limits=(("gres/gpu:h100", None),), qos=("p0",))
    told = sacctmgr.difference(State(accounts=(ACCOUNT,)), State(accounts=(free,)))
    assert sacctmgr.stream(told) == "modify account set GrpTRES=gres/gpu:h100=-1 where name=a\n"


@pytest.mark.parametrize(
    ("current", "expected"),
    [
        (Qos(name="q", priority=5, preempt=("b", "a")), ""),
        (Qos(name="q", priority=4, preempt=("a", "b")), "Priority=5"),
        (Qos(name="q", priority=5, preempt=("a",)), "Preempt=a,b"),
        (Qos(name="q", priority=5, preempt=("a", "b"), preempt_mode="cancel"), "PreemptMode=requeue"),
        (Qos(name="q", priority=5, preempt=("a", "b"), grace_seconds=0), "GraceTime=120"),
        (Qos(name="q", priority=5, preempt=("a", "b"), exempt_seconds=60), "PreemptExemptTime=-1"),
    ],
)
def test_only_the_difference_of_a_qos_is_told(current: Qos, expected: str) -> None:
    wanted = Qos(name="q", priority=5, preempt=("a", "b"))
    told = sacctmgr.difference(State(qos=(current,)), State(qos=(wanted,)))
    assert sacctmgr.stream(told) == (f"modify qos set {expected} where name=q\n" if expected else "")


def test_a_time_of_exemption_is_written_with_its_hours_since_a_number_would_be_minutes() -> None:
    told = sacctmgr.difference(State(qos=(Qos(name="q"),)), State(qos=(Qos(name="q", exempt_seconds=5_400),)))
    assert told == (("modify", "qos", "set", "PreemptExemptTime=01:30:00", "where", "name=q"),)


def test_a_list_of_preemption_is_never_emptied() -> None:
    assert sacctmgr.difference(State(qos=(Qos(name="q", preempt=("a",)),)), State(qos=(Qos(name="q"),))) == ()


SACCTMGR = """#!/bin/sh
case "$*" in
    *"show qos"*) cat "$STATE/qos" ;;
    *"show assoc"*) echo "$*" >>"$STATE/asked"; cat "$STATE/assoc" ;;
    --immediate) cat >>"$STATE/told"; cp "$STATE/later" "$STATE/assoc"; exit 1 ;;
esac
"""
SCONTROL = (
    '#!/bin/sh\n[ "$*" = "show config" ] && printf "AccountingStorageHost = x\\nClusterName             = lab\\n"\n'
)


def run(tmp_path: Path, *, missing: str = "", moment: int) -> tuple[list[str], list[str], int]:
    """What the program tells Slurm and prints, with stand-ins for Slurm's programs; and how it ends."""
    specs = shared(train())
    plan = a_plan(specs, schedules=(a_schedule("vision-h100", 32, 48, 32),))
    texts = {item.path: item.text for item in render(plan, specs, specs.cluster("hpc")).manifests}
    state = state_of(specs, plan)
    rows = "".join(f"lab|{item.name}|root||1||\n" for item in state.accounts if item.name != missing)
    files = {
        "accounts.sh": texts["hpc/accounts.sh"],
        "sacctmgr": SACCTMGR,
        "scontrol": SCONTROL,
        "qos": "".join(f"{item.name}|0||cluster|00:00:00|\n" for item in state.qos),
        "assoc": "lab|vision|elsewhere||1||\nother|nlp_01|elsewhere||1||\n",
        "later": rows,
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "STATE": str(tmp_path)}
    done = subprocess.run(
        [tmp_path / "accounts.sh", str(moment)], env=environment, text=True, capture_output=True, check=False
    )
    return (tmp_path / "told").read_text().splitlines(), (done.stdout + done.stderr).splitlines(), done.returncode


BEGIN = parse_time(START, "UTC")
AT_48 = "modify account set GrpTRES=gres/gpu:h100=48 where name=vision cluster=lab"
AT_32 = "modify account set GrpTRES=gres/gpu:h100=32 where name=vision cluster=lab"


def test_the_program_tells_what_holds_at_the_moment_and_when_it_changes_next(tmp_path: Path) -> None:
    told, printed, code = run(tmp_path, moment=BEGIN + 12 * HOUR)
    assert code == 0
    assert told[-1] == AT_48
    assert "the next change is due at 2026-12-02T00:00:00Z: run this again then" in printed


@pytest.mark.parametrize(("moment", "last"), [(-1, ()), (0, ()), (12, (AT_48,)), (23, (AT_48,)), (24, (AT_48, AT_32))])
def test_changes_are_told_once_their_time_has_come(tmp_path: Path, moment: int, last: tuple[str, ...]) -> None:
    told, _, _ = run(tmp_path, moment=BEGIN + moment * HOUR)
    assert tuple(line for line in told if line in (AT_48, AT_32)) == last


def test_the_program_moves_an_account_only_if_it_is_elsewhere_in_its_own_cluster(tmp_path: Path) -> None:
    told, _, _ = run(tmp_path, moment=BEGIN)
    assert [line for line in told if "Parent=" in line] == [
        "modify account set Parent=research where name=vision cluster=lab"
    ]
    assert all("cluster=lab" in line for line in (tmp_path / "asked").read_text().splitlines())


def test_the_program_shows_what_has_changed_and_fails_where_something_could_not_be_made(tmp_path: Path) -> None:
    _, printed, code = run(tmp_path, missing="nlp_01", moment=BEGIN)
    assert "now lab|vision|root||1||" in printed
    assert code == 1
    assert printed[-1] == "not there: nlp_01"


def test_the_program_is_plain_sh_without_a_finding() -> None:
    specs = shared(train())
    plan = a_plan(specs, schedules=(a_schedule("vision-h100", 32, 48),))
    texts = {item.path: item.text for item in render(plan, specs, specs.cluster("hpc")).manifests}
    assert lint(texts["hpc/accounts.sh"], "sh") == ""


MODELS = """
  - name: a
    nodes: a-[1-2]
    gpus: {model: h100-sxm5-80gb, count: 8}
  - name: b
    nodes: b-[1-2]
    gpus: {model: h100-sxm5-80gb, count: 4}
  - name: c
    nodes: c-1
    gpus: {model: l40s, count: 4}
"""


@pytest.mark.parametrize(
    ("gpus", "h100", "l40s"),
    [
        ("{model: h100-sxm5-80gb}", 10, None),
        ("{pool: hpc/b}", None, None),
        ("{cluster: hpc}", 10, 4),
        ("{vendor: nvidia}", 10, 4),
    ],
)
def test_a_quota_counts_in_each_kind_that_it_covers_with_no_more_than_there_is(
    gpus: str, h100: int | None, l40s: int | None
) -> None:
    from tests.renderers.fleet import a_job, specset_of
    from tests.renderers.slurm.site import TEAM, a_cluster

    quota = f"apiVersion: planner/v1\nkind: Quota\nname: q\nteam: vision\ngpus: {gpus}\nguaranteed: 10\n"
    quota = quota.replace("guaranteed: 10", "guaranteed: 8") if "pool" in gpus else quota
    specs = specset_of(a_cluster(pools=MODELS), TEAM, quota, a_job("train", "command: ['true']", "gpus: 1"))
    segment = a_segment("hpc/a", a_node("a-1", 0), specs=specs)
    plan = plan_of(a_placement("job/vision/train", segment, specs=specs), specs=specs)
    assert limits(state_of(specs, plan))["vision"] == {"gres/gpu:h100": h100, "gres/gpu:l40s": l40s}
    told = [item.message for item in render(plan, specs, specs.cluster("hpc")).degraded if item.address == "quota/q"]
    assert bool(told) == (l40s is not None)
