"""Files that people keep: what they wrote stays, and only what was found otherwise changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from planner.catalog import Vendor
from planner.diagnostics import PlannerError, SpecError
from planner.discovery.facts import Device, HostFacts, Instance
from planner.discovery.merge import merge
from planner.discovery.resolve import resolved
from planner.discovery.write import Written, merged
from planner.source import SourceFile
from planner.specset import load
from tests.planner.discovery.hosts import CATALOG, a_host

KEPT = """\
# Our machines. Ask Ann before changing quotas.
apiVersion: planner/v1
kind: Team
name: 0755       # not a number
---
apiVersion: planner/v1
kind: Cluster
name: lab   # the lab
backend: {type: slurm, version: "24.05"}
timezone: Asia/Shanghai
pools:
  # the big ones
  - name: big      # sixteen cards
    nodes: h100-[001-002]
    gpus: {model: H100-SXM5-80GB, count: 8}   # SXM
    cpus: 180      # twelve are kept for the system
    memory: 1900Gi
    sockets: [[0, 1, 2, 3, 4, 5, 6, 7]]
    network: {fabric: infiniband, rate: 400Gb/s, rdma: true}
    software: {driver: "570.86", cuda: "12.8", arch: amd64}
    chargeback: USD 2.10/h
    x-note: NO
    # nothing more of them

  - name: old
    nodes: [k80-1]
    gpus: {model: k80, count: 2}
# the end
---
# quotas follow
apiVersion: planner/v1
kind: Quota
name: q
team: t
guaranteed: 1e3
"""


def written(before: str | None, *hosts: HostFacts) -> Written:
    file = None if before is None else SourceFile("cluster.yaml", before.encode())
    return merged(file, merge(hosts, CATALOG), "lab", "slurm", CATALOG)


def nodes(*names: str, **facts: Any) -> tuple[HostFacts, ...]:
    return tuple(a_host(name, **facts) for name in names)


def diff(before: str, after: str) -> tuple[list[str], list[str]]:
    """Lines that went and lines that came."""
    old, new = before.splitlines(), after.splitlines()
    return [line for line in old if line not in new], [line for line in new if line not in old]


BOTH = nodes("h100-001", "h100-002")


def test_a_new_file_is_a_valid_cluster() -> None:
    result = written(None, *BOTH)
    assert load([SourceFile("cluster.yaml", result.text.encode())]).specset is not None
    assert result.changes == ("cluster/lab: new",)


def test_a_file_that_agrees_stays_byte_for_byte() -> None:
    result = written(KEPT, *BOTH)
    assert result.text == KEPT
    assert (result.changes, result.held_back) == ((), ())


def test_writing_twice_changes_nothing_more() -> None:
    more = nodes("h100-001", "h100-002", "h100-003")
    once = written(KEPT, *more).text
    assert written(once, *more) == Written(text=once)


def test_people_may_hold_back_cpus_and_memory_but_not_promise_more() -> None:
    generous = KEPT.replace("cpus: 180 ", "cpus: 256 ").replace("1900Gi", "2Ti")
    result = written(generous, *BOTH)
    assert result.changes == ("pool/lab/big: cpus: 256 -> 192", "pool/lab/big: memory: 2Ti -> 2015Gi")
    assert diff(generous, result.text) == (
        ["    cpus: 256      # twelve are kept for the system", "    memory: 2Ti"],
        ["    cpus: 192      # twelve are kept for the system", "    memory: 2015Gi"],
    )


def test_a_new_node_joins_the_pool_that_says_the_same() -> None:
    result = written(KEPT, *nodes("h100-003"))
    assert diff(KEPT, result.text) == (["    nodes: h100-[001-002]"], ["    nodes: h100-[001-003]"])
    assert result.changes == ("pool/lab/big: nodes: h100-[001-002] -> h100-[001-003]",)


def test_a_list_of_names_stays_a_list() -> None:
    listed = KEPT.replace("nodes: h100-[001-002]", "nodes: [h100-001, h100-002]")
    assert "nodes: [h100-001, h100-002, h100-003]" in written(listed, *nodes("h100-003")).text


def test_some_nodes_of_a_pool_do_not_change_what_is_said_of_all() -> None:
    result = written(KEPT, *nodes("h100-001", cpus=96))
    assert result.text == KEPT
    assert result.held_back == ("pool/lab/big: cpus: 180 -> 96; not all nodes of the pool were discovered",)


def test_a_field_that_is_not_stated_is_added_behind_the_others_and_before_the_comment() -> None:
    without = KEPT.replace("    cpus: 180      # twelve are kept for the system\n", "")
    result = written(without, *BOTH)
    assert result.changes == ("pool/lab/big: cpus: 192, not stated",)
    assert diff(without, result.text) == ([], ["    cpus: 192"])
    assert "    x-note: NO\n    cpus: 192\n    # nothing more of them\n" in result.text


def test_another_kind_of_node_becomes_a_pool_behind_the_others() -> None:
    result = written(KEPT, *BOTH, *nodes("a100-1", model="NVIDIA A100-SXM4-80GB"))
    assert result.changes == ("pool/lab/a100: new, with a100-1",)
    gone, came = diff(KEPT, result.text)
    assert gone == [] and came[0] == "  - name: a100"
    assert result.text.index("- name: old") < result.text.index("- name: a100") < result.text.index("# the end")


def test_a_name_that_is_taken_is_numbered() -> None:
    result = written(KEPT.replace("name: old", "name: a100"), *nodes("a-1", model="NVIDIA A100-SXM4-80GB"))
    assert "  - name: a100-2\n" in result.text


def test_a_cluster_of_another_name_is_left_alone() -> None:
    other = KEPT.replace("name: lab   #", "name: prod   #")
    result = written(other, *BOTH)
    assert result.text.startswith(other.rstrip())
    assert result.changes == ("cluster/lab: new",)


@pytest.mark.parametrize(
    ("stated", "stays"),
    [
        ('driver: "570.86"', True),
        ('driver: "570"', True),
        ('driver: "570.86.15"', True),
        ('driver: "570.87"', False),
        ('driver: "57"', False),
    ],
)
def test_a_version_agrees_as_far_as_it_is_stated(stated: str, stays: bool) -> None:
    assert bool(written(KEPT.replace('driver: "570.86"', stated), *BOTH).changes) is not stays


@pytest.mark.parametrize(
    ("stated", "stays"),
    [("H100", False), ("h100-sxm5-80gb", True), ("NVIDIA H100 80GB HBM3", True), ("h100-pcie-80gb", False)],
)
def test_a_model_agrees_under_any_of_its_names(stated: str, stays: bool) -> None:
    assert bool(written(KEPT.replace("model: H100-SXM5-80GB", f"model: {stated}"), *BOTH).changes) is not stays


def test_a_network_without_a_rate_gets_one_and_keeps_the_rest() -> None:
    bare = KEPT.replace("rate: 400Gb/s, rdma: true", "rdma: true")
    assert "network: {fabric: infiniband, rdma: true, rate: 400Gb/s}" in written(bare, *BOTH).text


def test_leave_to_choose_partitions_is_not_overwritten_by_those_that_are_there() -> None:
    chosen = KEPT.replace("    chargeback", "    partitions: [1g.10gb, 3g.40gb]\n    chargeback")
    assert written(chosen, *BOTH).text == chosen


def test_models_that_nobody_knows_are_proposed_once() -> None:
    strange = resolved(
        replace(
            a_host("z-1", cards=0),
            devices=(Device(index=0, vendor=Vendor.NVIDIA, name="NVIDIA Z9000", memory_mib=1000, numa_node=0),),
        ),
        CATALOG,
    )
    once = written(KEPT, *BOTH, strange)
    assert "accelerator/z9000: new" in once.changes
    proposed = "name: z9000\ntitle: NVIDIA Z9000\nvendor: nvidia\nmemory: 1000Mi\naliases: [NVIDIA Z9000]\n"
    assert once.text.endswith(proposed)
    assert written(once.text, *BOTH, strange) == Written(text=once.text)


def test_a_comment_that_would_be_lost_stops_the_writing() -> None:
    hidden = KEPT.replace(
        "gpus: {model: H100-SXM5-80GB, count: 8}   # SXM", "gpus: {model: H100-SXM5-80GB,   # SXM\n           count: 8}"
    )
    hidden = hidden.replace("cpus: 180 ", "cpus: 999 ")
    with pytest.raises(PlannerError, match="the comment '# SXM' would be lost"):
        written(hidden, *BOTH)


def test_a_file_that_is_not_well_formed_is_refused_with_its_place() -> None:
    with pytest.raises(SpecError) as caught:
        written("kind: [Cluster\n", *BOTH)
    assert str(caught.value.diagnostics[0].place).startswith("cluster.yaml:")


@pytest.mark.parametrize("indent", ["  - ", "- ", "    - ", "  -   "])
def test_the_indentation_of_the_file_is_kept(indent: str) -> None:
    inner = " " * len(indent)
    text = f"apiVersion: planner/v1\nkind: Cluster\nname: lab\nbackend: slurm\npools:\n{indent}name: big\n"
    text += (
        f"{inner}nodes: h100-001\n{inner}gpus:\n{inner}  model: h100-sxm5-80gb\n{inner}  count: 8\n{inner}cpus: 999\n"
    )
    after = written(text, *nodes("h100-001")).text
    assert f"{indent}name: big\n{inner}nodes: h100-001\n{inner}gpus:\n{inner}  model: h100-sxm5-80gb\n" in after
    assert f"{inner}cpus: 192\n" in after


def test_an_empty_file_is_filled() -> None:
    assert written("\n", *BOTH).text == written(None, *BOTH).text


def test_a_pool_of_so_many_nodes_is_known_by_the_names_that_they_get() -> None:
    counted = KEPT.replace("nodes: h100-[001-002]", "nodes: 2").replace("cpus: 180 ", "cpus: 999 ")
    result = written(counted, *nodes("big-0001", "big-0002"))
    assert result.changes == ("pool/lab/big: cpus: 999 -> 192",)


def test_domains_are_the_same_whatever_people_call_them() -> None:
    cluster = "0123456789abcdef" * 2
    host = a_host("h100-001", nvlink_domain=f"{cluster}.1"), a_host("h100-002", nvlink_domain=f"{cluster}.1")
    named = KEPT.replace("    chargeback", "    nvlink_domains: {rack-a: 'h100-[001-002]'}\n    chargeback")
    assert written(named, *host).text == named
    apart = KEPT.replace("    chargeback", "    nvlink_domains: {a: h100-001, b: h100-002}\n    chargeback")
    assert "nvlink_domains: {a: h100-001, b: h100-002, 01234567-1: 'h100-[001-002]'}" in written(apart, *host).text


def divided(host: HostFacts) -> HostFacts:
    """The host with its first card in MIG mode, with one instance."""
    part = Instance(profile="3g.40gb", at=4, memory_slices=4, memory_mib=40_000)
    first = replace(host.devices[0], divided=True, instances=(part,))
    return replace(host, devices=(first, *host.devices[1:]))


def test_partitions_of_other_nodes_stay() -> None:
    fixed = "    partitions: {fixed: {h100-002: {0: [{profile: 7g.80gb, at: 0}]}}}\n    chargeback"
    before = KEPT.replace("    chargeback", fixed)
    one = divided(a_host("h100-001"))
    told = written(before, one).held_back[0]
    assert told.startswith("pool/lab/big: partitions: {fixed: {h100-002: {0: [{profile: 7g.80gb")
    text = written(before, one, divided(a_host("h100-002"))).text
    assert "h100-001: {0: [{profile: 3g.40gb, at: 4}]}" in text and "7g.80gb" not in text
    assert load([SourceFile("c.yaml", text.partition("---\n")[2].partition("---\n")[0].encode())]).specset is not None


def test_what_nobody_could_read_is_replaced() -> None:
    odd = KEPT.replace("1900Gi", "lots").replace("{fabric: infiniband, rate: 400Gb/s, rdma: true}", "fast")
    odd = odd.replace('{driver: "570.86", cuda: "12.8", arch: amd64}', "new").replace(
        "{model: H100-SXM5-80GB, count: 8}", "many"
    )
    text = written(odd, *BOTH).text
    assert "    memory: 2015Gi\n" in text
    assert "    network: {fabric: infiniband, rate: 400Gb/s, rdma: true}\n" in text
    assert "    gpus: {model: h100-sxm5-80gb, count: 8}" in text


def test_a_pool_whose_nodes_nobody_could_read_is_left_alone() -> None:
    odd = KEPT.replace("nodes: h100-[001-002]", "nodes: h100-[002-001]").replace(
        "model: H100-SXM5-80GB", "model: MI300X"
    )
    result = written(odd, *BOTH)
    assert result.changes == ("pool/lab/h100: new, with h100-[001-002]",)
