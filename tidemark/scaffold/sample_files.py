"""The files of the sample project: in the wheel next to the templates, in this repository its own.

Read by `setup.py` when the toolkit is not installed yet: imports nothing of it.
"""

from pathlib import Path

STACK = "infra/flights_stack.py"  # the sample is where this is
IN_WHEEL = ("tidemark", "scaffold", "templates", "sample")  # where setup.py puts it
PATTERNS = ["app.py", "cdk.json", "package.json", "infra/*.py", "glue_jobs/*.py", "sample/*.py"]
PATTERNS += ["tests/glue_jobs/test_*.py"]


def sample_files(root: Path) -> list[str]:
    """Return the paths of the sample's files below a folder that holds it."""
    return sorted(
        str(path.relative_to(root)) for pattern in PATTERNS for path in root.glob(pattern)
    )


def sample_root() -> Path:
    """Return the folder that holds the sample: in the wheel or in the repository."""
    scaffold = Path(__file__).parent
    in_wheel = scaffold / "templates" / "sample"
    return in_wheel if in_wheel.is_dir() else scaffold.parents[1]
