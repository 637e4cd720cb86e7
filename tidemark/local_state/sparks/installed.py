"""Finds the Spark that runs a version of Glue: a PySpark, and the Python that runs jobs with it."""

import hashlib
import importlib.util
import sys
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

from tidemark.errors import UsageError
from tidemark.extras import not_installed
from tidemark.local_state.machine.installation import FOLDER
from tidemark.model.assembly.glue_versions import DEFAULT_GLUE_VERSION, GLUE_VERSIONS, RUN_HERE

ENVIRONMENTS = FOLDER / "sparks"
PYTHON_OF_ENVIRONMENT = Path("bin") / "python"


@dataclass(frozen=True)
class Spark:
    """A PySpark and its Python.

    Attributes:
        version: of PySpark, such as `4.1.1`.
        python: the Python that has it.
        home: the folder of PySpark, with Spark's jars.
        format_jars: jars of table formats that a JVM has on its class path beside Spark's own.
    """

    version: str
    python: Path
    home: Path
    format_jars: tuple[Path, ...] = ()

    @property
    def major(self) -> int:
        """The first part of the version: 3 has Scala 2.12, 4 has Scala 2.13."""
        return int(self.version.partition(".")[0])

    @property
    def line(self) -> str:
        """3.5 of 3.5.6: from one to the next, Spark changes results."""
        return line_of(self.version)

    @property
    def is_own(self) -> bool:
        """Whether it is the Spark of the Python that this process is."""
        return self.python == Path(sys.executable)

    @property
    def python_version(self) -> tuple[int, int]:
        """The version of its Python."""
        if self.is_own:
            return sys.version_info[:2]
        version = self.home.parents[1].name.removeprefix("python")  # lib/python3.13/site-packages
        major, _, minor = version.partition(".")
        return int(major), int(minor)

    def __str__(self) -> str:
        return f"Spark {self.version} on Python {'.'.join(map(str, self.python_version))}"


@cache
def own_spark() -> Spark:
    """Return the Spark of this Python, without importing it."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or not spec.submodule_search_locations:
        raise not_installed("pyspark") or UsageError("PySpark is not installed")
    home = Path(spec.submodule_search_locations[0])
    return Spark(version("pyspark"), Path(sys.executable), home)


def own_glue_version() -> str:
    """Return the newest version of Glue that this Python's Spark runs; else the default."""
    try:
        line = own_spark().line
    except UsageError:
        return DEFAULT_GLUE_VERSION
    versions = [name for name, glue in GLUE_VERSIONS.items() if line_of(glue.pyspark or "") == line]
    return max(versions, key=float, default=DEFAULT_GLUE_VERSION)


def pyspark_of(glue_version: str) -> str:
    """Return the version of PySpark that runs a version of Glue here."""
    glue = GLUE_VERSIONS.get(glue_version)
    if glue is None or glue.pyspark is None:
        raise UsageError(
            f"GlueVersion {glue_version} does not run on this machine; allowed: "
            f"{', '.join(RUN_HERE)}"
        )
    return glue.pyspark


def installed_spark(glue_version: str) -> Spark | None:
    """Return the Spark for a version of Glue; None if its environment is still to be made."""
    wanted = pyspark_of(glue_version)
    own = own_spark()
    return own if own.line == line_of(wanted) else environment_spark(wanted)


def environment_spark(pyspark: str) -> Spark | None:
    """Return the Spark of the environment with a version of PySpark; None if it is missing."""
    for folder in sorted(ENVIRONMENTS.glob(f"{environment_prefix(pyspark)}*")):
        homes = list(folder.glob("lib/python3.*/site-packages/pyspark"))
        # It is a link to a Python that may be uninstalled by now.
        python = folder / PYTHON_OF_ENVIRONMENT
        if len(homes) == 1 and python.exists():
            return Spark(pyspark, python, homes[0])
    return None


@cache  # the engine asks at each of its steps
def environment_prefix(pyspark: str) -> str:
    """Return how the folder of an environment begins; it changes with what is installed there."""
    content = requirements_of(pyspark).read_bytes()
    return f"{pyspark}-{hashlib.sha256(content).hexdigest()[:8]}-py"


def requirements_of(pyspark: str) -> Path:
    """Return the file of the pinned packages of an environment."""
    file = Path(__file__).with_name(f"spark-{pyspark}.txt")
    if not file.is_file():
        raise UsageError(
            f"PySpark {pyspark} runs in the Python that has this toolkit, and that one has "
            f"{own_spark().version}: run `pip install pyspark=={pyspark}`"
        )
    return file


def line_of(pyspark: str) -> str:
    """Return 3.5 of 3.5.6."""
    return ".".join(pyspark.split(".")[:2])
