"""The Node that runs the CDK: which one is taken, and one line if there is none."""

import subprocess

import pytest

from tidemark import app
from tidemark.app import find_node, node_options


def test_a_node_that_is_too_old_is_refused(tmp_path):
    node = tmp_path / "node"
    node.write_text("#!/bin/sh\necho v16.20.2\n")
    node.chmod(0o755)

    with pytest.raises(ValueError, match=r"answers 'v16\.20\.2' when .* needed: Node 20 or newer"):
        find_node(str(node))


def test_a_file_that_is_no_program_is_refused_as_node(tmp_path):
    node = tmp_path / "node"
    node.write_bytes(b"\x00")
    node.chmod(0o755)

    with pytest.raises(ValueError, match="answers 'Exec format error' when asked"):
        find_node(str(node))


def test_without_the_bundled_node_the_one_on_the_path_is_taken(tmp_path, monkeypatch):
    node = tmp_path / "node"
    node.write_text("#!/bin/sh\necho v22.1.0\n")
    node.chmod(0o755)
    monkeypatch.setattr(app, "_bundled_node", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert find_node(None) == str(node)


def test_without_any_node_the_error_says_how_to_get_one(tmp_path, monkeypatch):
    monkeypatch.setattr(app, "_bundled_node", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(ValueError, match="'node' on the PATH is not a program that can be run"):
        find_node(None)


@pytest.mark.parametrize(("given", "in_use_mb"), [(None, 2), ("--max-semi-space-size=8", 8)])
def test_node_keeps_a_small_room_for_new_objects_unless_told_otherwise(given, in_use_mb):
    old_space = "--max-old-space-size=100"  # the limit of a heap is this and three rooms
    run = subprocess.run(
        [find_node(None), old_space, "-p", "v8.getHeapStatistics().heap_size_limit / 2 ** 20"],
        env={"NODE_OPTIONS": node_options(given)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert float(run.stdout) == 100 + 3 * in_use_mb
