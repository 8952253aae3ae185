"""The directives of a job: what a node gives, when, where, and how it may be interrupted."""

from __future__ import annotations

import pytest

from planner.plan import Device
from renderers.slurm.reading import Component, components
from tests.renderers.fleet import a_node
from tests.renderers.slurm.site import POOL, TEAM, a_cluster, a_site, whole_nodes

MIXED = """
  - name: mixed
    nodes: mix[01-02]
    gpus: [{model: rtx-3090, count: 1, devices: [0]}, {model: rtx-4090, count: 1, devices: [1]}]
    cpus: 32
    memory: 128Gi
"""


def test_a_job_says_whose_it_is_and_where_it_runs() -> None:
    options = a_site("command: ['true']", "gpus: 8", "priority: P1").options()
    assert options.get("account") == "vision"
    assert options.get("qos") == "p1"
    assert options.get("partition") == "gpu"
    assert (options.get("comment") or "").startswith("planner:job/vision/train@")
    assert (options.get("job-name") or "").startswith("vision.train-")
    assert options.get("export") == "NONE"


def test_the_teams_own_account_and_the_pools_name_are_used() -> None:
    pool = POOL.replace("    partition: gpu\n", "")
    team = f"{TEAM}account: vis_01\n"
    options = a_site("command: ['true']", "gpus: 8", cluster=a_cluster(pools=pool), team=team).options()
    assert options.get("account") == "vis_01"
    assert options.get("partition") == "h100"


def kept(options: Component) -> str:
    """The part of a comment that stays while a queued job can be changed into what is planned."""
    return (options.get("comment") or "").rpartition(".")[0]


def test_name_and_comment_change_with_what_runs_and_not_with_when() -> None:
    one = a_site("command: ['true']", "gpus: 8").options()
    later = a_site("command: ['true']", "gpus: 8", start=5).options()
    other = a_site("command: ['false']", "gpus: 8").options()
    assert one.get("job-name") == later.get("job-name")
    assert kept(one) == kept(later)
    assert one.get("comment") != later.get("comment")
    assert one.get("begin") != later.get("begin")
    assert one.get("job-name") != other.get("job-name")
    assert kept(one) != kept(other)


def test_the_start_is_the_planned_moment_in_any_time_zone() -> None:
    assert a_site("command: ['true']", "gpus: 8", start=3).options().get("begin") == f"uts{1_796_083_200 + 3 * 3_600}"


@pytest.mark.parametrize(
    ("fields", "asked"),
    [
        (("needs: {features: [ib]}",), "ib"),
        (("needs: {features: [ib, hopper]}",), "ib&hopper"),
        ((), None),
    ],
)
def test_only_features_that_are_asked_for_become_a_constraint(fields: tuple[str, ...], asked: str | None) -> None:
    assert a_site("command: ['true']", "gpus: 8", *fields).options().get("constraint") == asked


def test_the_planned_nodes_are_named() -> None:
    assert (
        a_site("command: ['true']", "gpus: 24", nodes=whole_nodes(3, first=9)).options().get("nodelist")
        == "gpu-[009-011]"
    )


def test_under_blocks_the_other_nodes_of_the_pool_are_left_out_instead() -> None:
    pool = f"{POOL.rstrip()}\n    nodes_per_nvlink_domain: 8\n"
    cluster = a_cluster('{type: slurm, version: "24.05"}', pool)
    options = a_site("command: ['true']", "gpus: 16", nodes=whole_nodes(2), cluster=cluster).options()
    assert options.get("nodelist") is None
    assert options.get("exclude") == "gpu-[003-016]"


def test_nodes_that_are_only_counted_are_left_to_slurm_and_that_is_said() -> None:
    cluster = a_cluster(pools=POOL.replace("gpu-[001-016]", "16"))
    site = a_site("command: ['true']", "gpus: 8", cluster=cluster)
    assert not site.options().has("nodelist")
    assert not site.options().has("exclude")
    assert "Slurm chooses among them" in " ".join(site.messages())


@pytest.mark.parametrize(
    ("fields", "flags", "signal", "mode"),
    [
        ((), {"no-requeue"}, None, None),
        (("checkpoint: {every: 20m}",), {"requeue"}, "TERM@120", "append"),
        (("checkpoint: {every: 20m}", "preemptible: false"), {"no-requeue"}, "TERM@120", None),
    ],
)
def test_only_what_can_resume_is_requeued_and_warned(
    fields: tuple[str, ...], flags: set[str], signal: str | None, mode: str | None
) -> None:
    options = a_site("command: ['true']", "gpus: 8", *fields).options()
    assert {name for name in ("requeue", "no-requeue") if options.has(name)} == flags
    assert options.get("signal") == signal
    assert options.get("open-mode") == mode


@pytest.mark.parametrize(("limit_seconds", "warned"), [(599, False), (600, True)])
def test_a_short_job_keeps_its_time_instead_of_a_warning(limit_seconds: int, warned: bool) -> None:
    site = a_site("command: ['true']", "gpus: 8", "checkpoint: {every: 2m}", limit_seconds=limit_seconds)
    assert site.options().has("signal") is warned


def test_unlike_parts_become_components_of_one_job() -> None:
    roles = "roles: [{name: master, gpus: 2}, {name: worker, gpus: 8, replicas: 2}]"
    nodes = (
        a_node("gpu-001", 0, 1, role="master"),
        a_node("gpu-002", *range(8), role="worker"),
        a_node("gpu-003", *range(8), role="worker"),
    )
    site = a_site("command: [torchrun, t.py]", roles, nodes=nodes)
    master, worker = components(site.script())
    assert (master.get("nodes"), master.get("gres"), master.get("nodelist")) == ("1", "gpu:h100:2", "gpu-001")
    assert (worker.get("nodes"), worker.get("gres"), worker.get("nodelist")) == ("2", "gpu:h100:8", "gpu-[002-003]")
    assert int(master.get("cpus-per-task") or 0) * 4 == int(worker.get("cpus-per-task") or 0)
    assert "srun --kill-on-bad-exit=1 --het-group=0-1 " in site.script()


def test_cpu_work_asks_for_no_device() -> None:
    pools = "\n  - name: cpu\n    nodes: cpu-[1-2]\n    cpus: 64\n    memory: 256Gi\n"
    site = a_site(
        "command: ['true']",
        "gpus: 0",
        "cpus: 4",
        "memory: 8Gi",
        cluster=a_cluster(pools=pools),
        pool="cpu",
        nodes=(a_node("cpu-1"),),
    )
    options = site.options()
    assert not options.has("gres")
    assert options.get("cpus-per-task") == "4"
    assert options.get("mem") == "8192M"
    assert "PET_NPROC_PER_NODE" not in site.script()


def test_in_a_node_of_two_models_the_type_says_which() -> None:
    site = a_site(
        "command: ['true']",
        "gpus: {count: 1, model: rtx-3090}",
        cluster=a_cluster(pools=MIXED),
        pool="mixed",
        nodes=(a_node("mix01", 0),),
    )
    ((kind, count),) = site.options().gpus()
    assert kind is not None
    assert "3090" in kind
    assert count == 1


def test_without_types_a_node_of_two_models_is_a_lottery_and_nothing_is_written() -> None:
    cluster = a_cluster("{type: slurm, typed: false}", MIXED)
    site = a_site(
        "command: ['true']",
        "gpus: {count: 1, model: rtx-3090}",
        cluster=cluster,
        pool="mixed",
        nodes=(a_node("mix01", 0),),
    )
    assert site.rendered.manifests == ()
    assert "cannot tell rtx-3090 and rtx-4090 apart" in site.messages()[0]


def test_a_share_is_so_many_shards_and_its_limits_are_said() -> None:
    pool = f"{POOL.rstrip()}\n    sharing: {{by: shard, units: 8}}\n"
    node = a_node("gpu-001", Device(index=3, share="1/4"))
    site = a_site("command: ['true']", "gpus: 1/4", nodes=(node,), cluster=a_cluster(pools=pool))
    assert site.options().get("gres") == "shard:2"
    assert "fences nothing" in " ".join(site.messages())


def test_a_share_of_a_pool_that_slurm_cannot_share_is_refused() -> None:
    pool = f"{POOL.rstrip()}\n    sharing: {{by: mps, units: 8}}\n"
    node = a_node("gpu-001", Device(index=3, share="1/4"))
    site = a_site("command: ['true']", "gpus: 1/4", nodes=(node,), cluster=a_cluster(pools=pool))
    assert site.rendered.manifests == ()
    assert "only where the pool is shared by shard" in site.messages()[0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("partition: gpu", "partition: 'gpu --wrap=id'"),
        ("partition: gpu", 'partition: "gpu#x"'),
        ("partition: gpu", "partition: gpu\n    gres_type: 'h100:8,nvme'"),
        ("partition: gpu", 'partition: gpu\n    gres_type: "h\'100"'),
    ],
)
def test_a_sites_own_word_that_a_directive_cannot_hold_is_refused(old: str, new: str) -> None:
    site = a_site("command: ['true']", "gpus: 8", cluster=a_cluster(pools=POOL.replace(old, new)))
    assert site.rendered.manifests == ()
    assert "cannot stand in an #SBATCH line" in site.messages()[0]


MIG = """
  - name: mig
    nodes: mig-[1-2]
    gpus: {model: a100-sxm4-40gb, count: 4}
    cpus: 64
    memory: 512Gi
    partitions: [3g.20gb, 1g.5gb]
"""


def test_partitions_are_asked_for_by_the_type_that_slurm_finds() -> None:
    fields = ("command: [a]", "gpus: {count: 2, partition: 3g.20gb}")
    node = a_node("mig-1", Device(index=0, profile="3g.20gb", at=0), Device(index=0, profile="3g.20gb", at=4))
    options = a_site(*fields, cluster=a_cluster(pools=MIG), pool="mig", nodes=(node,)).options()
    assert options.get("gres") == "gpu:nvidia_a100_3g.20gb:2"


def test_a_partition_whose_type_nobody_knows_is_refused() -> None:
    pools = MIG.replace("a100-sxm4-40gb", "h200-sxm5-141gb").replace("3g.20gb, 1g.5gb", "3g.71gb")
    fields = ("command: [a]", "gpus: {count: 1, partition: 3g.71gb}")
    node = a_node("mig-1", Device(index=0, profile="3g.71gb", at=0))
    site = a_site(*fields, cluster=a_cluster(pools=pools), pool="mig", nodes=(node,))
    assert site.rendered.manifests == ()
    assert "how Slurm calls the partition 3g.71gb" in site.messages()[0]


def test_unlike_parts_need_a_version_with_heterogeneous_jobs() -> None:
    roles = "roles: [{name: master, gpus: 2}, {name: worker, gpus: 8}]"
    nodes = (a_node("gpu-001", 0, 1, role="master"), a_node("gpu-002", *range(8), role="worker"))
    site = a_site("command: [a]", roles, nodes=nodes, cluster=a_cluster('{type: slurm, version: "19.05"}'))
    assert site.rendered.manifests == ()
    assert "no heterogeneous jobs" in site.messages()[0]


def test_memory_that_nobody_states_is_said_to_be_up_to_the_site() -> None:
    bare = a_cluster(pools=POOL.replace("    memory: 2Ti\n", ""))
    whole = a_cluster("{type: slurm, exclusive: true}", POOL.replace("    memory: 2Ti\n", ""))
    fields = ("command: ['true']", "gpus: 8")
    assert any("DefMemPerNode" in item for item in a_site(*fields, cluster=bare).messages())
    assert not any("DefMemPerNode" in item for item in a_site(*fields, cluster=whole).messages())
    assert not any("DefMemPerNode" in item for item in a_site(*fields).messages())
