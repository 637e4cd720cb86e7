"""Finds the file of a project that a script in the lake is a copy of: messages name that file."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from tidemark.local_state.home import Home
from tidemark.local_state.home_folder import MARKER
from tidemark.model.assembly.definitions import Deployment

PROJECT_MARK = "cdk.json"
CODE_SUFFIXES = (".jar", ".js", ".py", ".sql", ".toml", ".ts", ".whl", ".yaml", ".yml", ".zip")
FOREIGN_MARKS = ("pyvenv.cfg", MARKER)  # of a virtual environment, and of a state folder


def with_submitted_files(deployment: Deployment, assembly: Path, home: Home) -> Deployment:
    """Return a deployment whose jobs know their file in the project around an assembly, if any."""
    project = assembly.absolute().parent
    if not (project / PROJECT_MARK).is_file():
        return deployment
    scripts = {name: home.local_path(job.script_location) for name, job in deployment.jobs.items()}
    files = files_like(project, scripts)
    jobs = {
        name: replace(job, submitted_file=files.get(name)) for name, job in deployment.jobs.items()
    }
    return replace(deployment, jobs=jobs)


def files_like(project: Path, scripts: Mapping[str, Path]) -> dict[str, str]:
    """Return by name the one Python file of a project that has the content of a script.

    A script that none or several of the files equal is left out.
    """
    wanted = {name: script.read_bytes() for name, script in scripts.items() if script.is_file()}
    sizes = {len(content) for content in wanted.values()}
    same_size = [path for path in python_files(project) if path.stat().st_size in sizes]
    contents = [(path, path.read_bytes()) for path in same_size]
    candidates = {
        name: [path for path, content in contents if content == script]
        for name, script in wanted.items()
    }
    return {name: str(paths[0]) for name, paths in candidates.items() if len(paths) == 1}


def code_files(project: Path) -> Iterator[Path]:
    """Yield the files of a project that can affect its jobs and templates; no tests."""
    for path in _files(project):
        is_test = "tests" in path.relative_to(project).parts[:-1]
        is_code = path.suffix in CODE_SUFFIXES or path.name in (PROJECT_MARK, "cdk.context.json")
        if is_code and not is_test and path.is_file():
            yield path


def python_files(project: Path) -> Iterator[Path]:
    """Yield the Python files of a project, without those of environments and hidden folders."""
    return (path for path in _files(project) if path.suffix == ".py")


def _files(project: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(project):
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".")
            and name not in ("node_modules", "cdk.out", "__pycache__")
            and not any(Path(folder, name, mark).exists() for mark in FOREIGN_MARKS)
        ]
        yield from (Path(folder, name) for name in files)
