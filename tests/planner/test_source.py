"""Reading a tree of spec files."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner import source
from planner.diagnostics import SpecError
from planner.source import FILE_BYTES, read_tree


def test_yaml_files_and_what_they_may_name_are_read_in_order(tmp_path: Path) -> None:
    for name in ("b.yaml", "a/z.yml", "a/train.sh", "README.md", ".git/config.yaml", "a/.hidden.yaml"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    files = read_tree(tmp_path)
    assert [file.path.removeprefix(f"{tmp_path.as_posix()}/") for file in files] == ["a/train.sh", "a/z.yml", "b.yaml"]
    assert files[2].text == b"b.yaml"


def test_one_file_may_be_the_tree(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: 1")
    assert [file.text for file in read_tree(tmp_path / "a.yaml")] == [b"a: 1"]


def test_a_missing_tree_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no directory or file"):
        read_tree(tmp_path / "nowhere")


def test_links_are_refused_all_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").symlink_to("/etc/passwd")
    (tmp_path / "b").symlink_to("/etc")
    with pytest.raises(SpecError) as error:
        read_tree(tmp_path)
    assert [item.code for item in error.value.diagnostics] == ["SPEC115", "SPEC115"]


def test_no_more_of_a_file_is_read_than_the_loader_needs_to_refuse_it(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"#" * (2 * FILE_BYTES))
    assert [len(file.text) for file in read_tree(tmp_path)] == [FILE_BYTES + 1]


def test_a_tree_beyond_its_limits_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_bytes(b"#" * 10)
    monkeypatch.setattr(source, "TREE_BYTES", 20)
    assert len(read_tree(tmp_path)) == 2
    monkeypatch.setattr(source, "TREE_BYTES", 19)
    with pytest.raises(SpecError, match="in all"):
        read_tree(tmp_path)
    monkeypatch.setattr(source, "TREE_FILES", 1)
    with pytest.raises(SpecError, match="more than 1 spec files"):
        read_tree(tmp_path)
