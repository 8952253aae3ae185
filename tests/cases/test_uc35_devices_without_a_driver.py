"""UC-35: there is no "rocm" driver; device nodes and the host's numeric group instead, or a default that is said."""

from __future__ import annotations

import pytest

from tests.renderers.compose.edge import RED, a_cluster, an_edge
from tests.renderers.fleet import a_node

JOB = ("command: [train]", "gpus: {count: 4, vendor: amd}", "user: '1000:1000'", "shm: 32Gi")


@pytest.mark.parametrize("gid", [105, 109])
def test_each_host_gives_its_own_group(gid: int) -> None:
    cluster = a_cluster(RED.replace("render_gid: 105", f"render_gid: {gid}"))
    edge = an_edge(*JOB, node=a_node("till-amd", 0, 1, 2, 3), pool="red", cluster=cluster)
    service = edge.service(host="till-amd")
    assert service["group_add"] == [str(gid)]
    assert f'group_add: ["{gid}"]' in edge.rendered.manifests[0].text
    assert service["devices"] == ["/dev/kfd:/dev/kfd"] + [
        f"/dev/dri/renderD{number}:/dev/dri/renderD{number}" for number in (128, 136, 144, 152)
    ]
    assert "reservations" not in service["deploy"]["resources"]
    assert "driver" not in edge.rendered.manifests[0].text
    assert (service["shm_size"], service["ipc"], service["user"]) == ("32768m", "private", "1000:1000")
    assert edge.faults() == ()


def test_a_missing_group_is_a_default_with_a_warning() -> None:
    cluster = a_cluster(RED.replace("    render_gid: 105\n", ""))
    edge = an_edge(*JOB, node=a_node("till-amd", 0, 1, 2, 3), pool="red", cluster=cluster)
    assert edge.service(host="till-amd")["group_add"] == ["109"]
    assert [message for message in edge.messages() if "render_gid" in message] != []
