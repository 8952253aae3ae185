"""Outputs of Slurm's commands, told apart by what they begin with."""

from __future__ import annotations

import pytest

from planner.diagnostics import UsageError
from planner.discovery.found import Text
from planner.discovery.slurm.read import read
from tests.planner.discovery.slurm.site import FILES, MODELS, TAKEN_AT, facts


def texts() -> list[Text]:
    return [Text(name=path.name, data=path.read_bytes()) for path in FILES]


def test_neither_order_nor_names_of_files_matter() -> None:
    assert read(texts()[::-1], MODELS, TAKEN_AT) == read(texts(), MODELS, TAKEN_AT)
    renamed = [Text(name=f"{9 - index}", data=text.data) for index, text in enumerate(texts())]
    assert read(renamed, MODELS, TAKEN_AT) == read(texts(), MODELS, TAKEN_AT)


def test_nodes_alone_are_enough() -> None:
    found = facts(assoc="", partition="", topology="", reservation="", squeue="")
    assert len(found.hosts) == 4
    assert (found.tenants, found.uses, found.ended) == ((), (), ())


@pytest.mark.parametrize("text", ["No reservations in the system\n", "", "No topology information available\n"])
def test_an_answer_that_there_is_nothing_is_nothing(text: str) -> None:
    assert read([*texts(), Text(name="x", data=text.encode())], MODELS, TAKEN_AT) == read(texts(), MODELS, TAKEN_AT)


def test_without_nodes_there_is_no_cluster() -> None:
    with pytest.raises(UsageError, match="scontrol show node -o"):
        read([text for text in texts() if text.name != "node.txt"], MODELS, TAKEN_AT)


@pytest.mark.parametrize("data", [b"hello", b"\xff\xfe\x00", b"JobID|State\n"])
def test_another_file_is_refused_by_name(data: bytes) -> None:
    with pytest.raises(UsageError, match=r"'x\.txt' is none of the outputs that are read"):
        read([*texts(), Text(name="x.txt", data=data)], MODELS, TAKEN_AT)
