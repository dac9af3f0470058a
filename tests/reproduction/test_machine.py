"""What a result says about the machine and the code that computed it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from nqe.reproduction.machine import Origin, find_commit


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def test_the_commit_is_that_of_the_checkout_and_says_if_files_differ(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("1")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "One")
    clean = find_commit(tmp_path)
    assert clean is not None
    assert len(clean) == 12
    (tmp_path / "code.py").write_text("2")
    assert find_commit(tmp_path) == f"{clean} with uncommitted changes"


def test_an_installed_package_inside_another_checkout_has_no_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "notes").write_text("1")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "One")
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "code.py").write_text("1")
    assert find_commit(tmp_path / "site-packages") is None


def test_a_folder_without_git_has_no_commit(tmp_path: Path) -> None:
    assert find_commit(tmp_path) is None


def test_the_origin_names_the_machine_and_the_versions() -> None:
    origin = Origin.find()
    assert origin.processor
    assert origin.cores >= 1
    assert {"nqe", "sampler", "model", "trainer", "evaluation"} == set(origin.versions)
