"""UC-29, in scripts: the nodes of a directive are exactly the planned ones, zeros kept, ranges only of equal width."""

from __future__ import annotations

import pytest

from planner.hosts import expand
from tests.renderers.fleet import a_node
from tests.renderers.slurm.site import POOL, a_cluster, a_site


@pytest.mark.parametrize(
    ("names", "written"),
    [
        (("compute-001", "compute-002", "compute-010"), "compute-[001-002,010]"),
        (("machine1", "machine10"), "machine[1,10]"),
        (("cpn-m11-16", "cpn-m11-17"), "cpn-m11-[16-17]"),
        (("n03d",), "n03d"),
        (("nodeA", "nodeB001", "nodeB003"), "nodeA,nodeB[001,003]"),
    ],
)
def test_the_list_of_a_script_is_the_set_of_planned_nodes(names: tuple[str, ...], written: str) -> None:
    pools = POOL.replace("gpu-[001-016]", f"[{', '.join((*names, 'spare9'))}]")
    nodes = tuple(a_node(name, *range(8)) for name in names)
    site = a_site("command: [a]", f"gpus: {8 * len(names)}", nodes=nodes, cluster=a_cluster(pools=pools))
    assert site.options().get("nodelist") == written
    assert set(expand(written)) == set(names)
