"""The files of the sample project: in the wheel beside the templates, in this repository its own.

Read by `setup.py` when the toolkit is not installed yet: imports nothing of it.
"""

from pathlib import Path

IN_WHEEL = ("tidemark", "scaffold", "templates", "sample")
PATTERNS = (
    *("app.py", "cdk.json", "package.json", "infra/*.py", "glue_jobs/*.py", "sample/*.py"),
    "tests/glue_jobs/test_*.py",
)


def sample_files(root: Path) -> list[str]:
    """Return the paths of the sample's files below a folder that holds it."""
    return sorted(
        str(path.relative_to(root)) for pattern in PATTERNS for path in root.glob(pattern)
    )


def sample_root() -> Path:
    """Return the folder that holds the sample.

    Raises:
        FileNotFoundError: it is in none of the places where it can be.
    """
    scaffold = Path(__file__).parent
    for root in (scaffold / "templates" / "sample", scaffold.parents[1]):
        if (root / "infra" / "flights_stack.py").is_file():
            return root
    raise FileNotFoundError("the sample is not part of this installation of tidemark-glue")
