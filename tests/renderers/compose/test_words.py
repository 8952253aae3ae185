"""Names as Compose takes them."""

from __future__ import annotations

import re

import pytest

from renderers.compose import words
from renderers.refusal import Unsupported


@pytest.mark.parametrize(
    ("address", "name"),
    [("job/vision/resnet", "vision.resnet"), ("job/vision/sweep[12]", "vision.sweep.12")],
)
def test_a_service_is_called_after_its_address(address: str, name: str) -> None:
    assert words.service_name(address) == name


def test_a_plain_host_keeps_its_name_in_the_project() -> None:
    assert words.project_name("store", "till-nv") == "store-till-nv"


@pytest.mark.parametrize("host", ["Till-NV", "till.example", "TILL", "a.b"])
def test_a_host_that_a_project_cannot_be_called_after_gets_a_hash(host: str) -> None:
    name = words.project_name("store", host)
    assert re.fullmatch(r"store-[a-z0-9_-]+-[0-9a-f]{8}", name)


def test_hosts_that_differ_in_case_or_dots_have_projects_of_their_own() -> None:
    hosts = ("till-nv", "Till-nv", "till.nv", "TILL-NV")
    assert len({words.project_name("store", host) for host in hosts}) == len(hosts)


@pytest.mark.parametrize("claim", ["cache", "a", "A_b-c.9"])
def test_a_claim_is_a_volume(claim: str) -> None:
    assert words.volume_name(claim) == claim


@pytest.mark.parametrize("claim", ["", "-a", "a b", "../a", "$a", "a/b"])
def test_a_claim_that_no_volume_can_be_called_is_refused(claim: str) -> None:
    with pytest.raises(Unsupported, match="not the name of a volume"):
        words.volume_name(claim)
