"""An output folder: equal to what was rendered, and nobody else's files touched."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from planner import lockfile
from planner.outfolder import INDEX, Difference, File, FolderError, difference, write


def files(*paths: str, text: str = "text\n") -> list[File]:
    """Files with the same text."""
    return [File(path=path, text=text) for path in paths]


def tree(root: Path) -> set[str]:
    """Every file below a folder but the index."""
    return {str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir() and path.name != INDEX}


def test_a_second_run_with_the_same_files_changes_nothing(tmp_path: Path) -> None:
    first = write(tmp_path / "out", files("dc1/a.yaml", "dc1/b.yaml"))
    before = (tmp_path / "out" / INDEX).read_bytes()
    assert first == Difference(created=("dc1/a.yaml", "dc1/b.yaml"))
    assert not write(tmp_path / "out", files("dc1/b.yaml", "dc1/a.yaml")).any
    assert (tmp_path / "out" / INDEX).read_bytes() == before


def test_the_folder_follows_what_is_rendered(tmp_path: Path) -> None:
    write(tmp_path, files("dc1/a.yaml", "dc1/deep/b.yaml"))
    found = write(tmp_path, [*files("dc1/a.yaml", text="other\n"), *files("hpc/c.sh")])
    assert found == Difference(created=("hpc/c.sh",), changed=("dc1/a.yaml",), removed=("dc1/deep/b.yaml",))
    assert tree(tmp_path) == {"dc1/a.yaml", "hpc/c.sh"}
    assert not (tmp_path / "dc1" / "deep").exists()
    assert (tmp_path / "dc1" / "a.yaml").read_text() == "other\n"


def test_the_difference_is_told_without_writing(tmp_path: Path) -> None:
    write(tmp_path, files("a.yaml", "b.yaml"))
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    found = difference(tmp_path, [*files("a.yaml", text="other"), *files("c.yaml")])
    assert found == Difference(created=("c.yaml",), changed=("a.yaml",), removed=("b.yaml",))
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_folder_that_does_not_exist_differs_by_everything_and_is_not_made(tmp_path: Path) -> None:
    assert difference(tmp_path / "out", files("a.yaml")).created == ("a.yaml",)
    assert not (tmp_path / "out").exists()


def test_files_of_others_stay_and_are_no_difference(tmp_path: Path) -> None:
    (tmp_path / "dc1").mkdir()
    (tmp_path / "dc1" / "notes.txt").write_text("mine")
    write(tmp_path, files("dc1/a.yaml"))
    write(tmp_path, [])
    assert tree(tmp_path) == {"dc1/notes.txt"}


def test_a_file_of_somebody_else_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("mine")
    with pytest.raises(FolderError, match="was not rendered here"):
        write(tmp_path, files("a.yaml", "b.yaml"))
    assert tree(tmp_path) == {"a.yaml"}
    assert (tmp_path / "a.yaml").read_text() == "mine"


@pytest.mark.parametrize(
    "path", ["../a", "/etc/a", "a/../../b", "a//b", "./a", "a/", "", ".", "a\\b", "a\0b", INDEX, "a/./b"]
)
def test_a_path_that_leaves_the_folder_or_is_not_plain_is_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(FolderError, match="does not stay inside"):
        write(tmp_path / "out", files("good", path))
    assert not (tmp_path / "out").exists()


def test_a_link_on_the_way_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    root = tmp_path / "out"
    root.mkdir()
    (root / "dc1").symlink_to(outside)
    with pytest.raises(FolderError, match="symbolic link"):
        write(root, files("dc1/a.yaml"))
    assert list(outside.iterdir()) == []


def test_a_stale_file_behind_a_link_is_not_removed(tmp_path: Path) -> None:
    root, outside = tmp_path / "out", tmp_path / "outside"
    write(root, files("dc1/a.yaml"))
    (root / "dc1").rename(outside)
    (root / "dc1").symlink_to(outside)
    with pytest.raises(FolderError, match="symbolic link"):
        write(root, [])
    assert (outside / "a.yaml").exists()


def test_a_link_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "real")
    with pytest.raises(FolderError, match="symbolic link"):
        write(tmp_path / "out", files("a"))


@pytest.mark.parametrize(
    "index",
    ["", "[]", "{}", '{"format": "other", "files": {}}', '{"format": "planner/manifests/v1", "files": ["a"]}'],
)
def test_an_index_that_is_not_ours_is_refused(index: str, tmp_path: Path) -> None:
    (tmp_path / INDEX).write_text(index)
    with pytest.raises(FolderError, match="not an index"):
        write(tmp_path, files("a"))


def test_an_index_cannot_lead_outside(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("mine")
    root = tmp_path / "out"
    root.mkdir()
    (root / INDEX).write_text(json.dumps({"format": "planner/manifests/v1", "files": {"../victim": "sha256:0"}}))
    with pytest.raises(FolderError):
        write(root, [])
    assert (tmp_path / "victim").exists()


def test_one_target_leaves_the_others_alone(tmp_path: Path) -> None:
    write(tmp_path, files("dc1/a.yaml", "dc1/b.yaml", "hpc/c.sh"))
    found = write(tmp_path, files("dc1/a.yaml"), below="dc1")
    assert found == Difference(removed=("dc1/b.yaml",))
    assert tree(tmp_path) == {"dc1/a.yaml", "hpc/c.sh"}
    assert not write(tmp_path, files("dc1/a.yaml", "hpc/c.sh")).any


def test_a_target_may_not_write_elsewhere(tmp_path: Path) -> None:
    with pytest.raises(FolderError):
        write(tmp_path, files("hpc/c.sh"), below="dc1")


def test_scripts_are_executable_and_losing_that_is_a_difference(tmp_path: Path) -> None:
    script = File(path="submit.sh", text="#!/bin/sh\n", executable=True)
    write(tmp_path, [script])
    assert os.access(tmp_path / "submit.sh", os.X_OK)
    (tmp_path / "submit.sh").chmod(0o644)
    assert difference(tmp_path, [script]).changed == ("submit.sh",)


def test_a_run_that_is_killed_between_two_files_leaves_nothing_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, files("old.yaml"))
    real, left = lockfile.write, [2]

    def dying(path: Path, text: str) -> None:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        real(path, text)

    monkeypatch.setattr(lockfile, "write", dying)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path, files("a.yaml", "b.yaml"))
    monkeypatch.undo()
    assert tree(tmp_path) == {"old.yaml", "a.yaml"}
    write(tmp_path, files("c.yaml"))
    assert tree(tmp_path) == {"c.yaml"}
