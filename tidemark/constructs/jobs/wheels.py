"""Refuses wheels that the Python of a job cannot install, by the tags in their names.

Sources: https://packaging.python.org/en/latest/specifications/platform-compatibility-tags/,
https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-python-libraries.html (Linux, glibc)
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import aws_cdk as cdk
from constructs import Construct
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from tidemark.errors import JobDefinitionError

GLIBC_2 = 34  # the minor version in Amazon Linux 2023
PLATFORMS = (
    *(f"manylinux_2_{minor}_x86_64" for minor in range(GLIBC_2, 4, -1)),
    *(f"{name}_x86_64" for name in ("manylinux2014", "manylinux2010", "manylinux1", "linux")),
)


def check_wheels(job: str, python: tuple[int, int], files: Sequence[str]) -> None:
    """Raise unless the Python of a job takes its wheels.

    Args:
        job: its name.
        python: major and minor version of its Python.
        files: its packages and files of the Python path; a name without tags is not judged.

    Raises:
        JobDefinitionError: a wheel is for another Python or platform.
    """
    for name in (file.rpartition("/")[2] for file in files if file.endswith(".whl")):
        try:
            tags = parse_wheel_filename(name)[3]
        except InvalidWheelFilename:
            continue
        if tags.isdisjoint(_supported(python)):
            raise JobDefinitionError(
                f"job '{job}' has the wheel {name!r}, which is for "
                f"{', '.join(sorted(map(str, tags)))}; allowed: wheels for Python "
                f"{python[0]}.{python[1]} on Linux x86_64 with glibc 2.{GLIBC_2}, or of pure "
                "Python; build or download one for it (pip download --python-version)"
            )


@cache
def _supported(python: tuple[int, int]) -> frozenset[Tag]:
    """Return the tags of wheels that a version of CPython takes on the machines of Glue."""
    return frozenset(
        (
            *cpython_tags(python, platforms=PLATFORMS),
            *compatible_tags(python, f"cp{python[0]}{python[1]}", PLATFORMS),
        )
    )


def named_asset(scope: Construct, id_: str, file: Path) -> tuple[str, str]:
    """Return bucket and key of a file of the project, which a deployment uploads.

    The CDK names an asset by its hash, but modules and files are used by their own names: here the
    name follows the hash, `s3://<bucket of the bootstrap>/<hash>/<name>`.

    Args:
        scope: the construct that owns the asset.
        id_: its construct id.
        file: the file.

    Raises:
        JobDefinitionError: the app gave its stack a synthesizer, which jsii does not return.
    """
    stack = cdk.Stack.of(scope)
    staging = cdk.AssetStaging(scope, id_, source_path=str(file))
    staged = staging.relative_staged_path(stack)
    # The synthesizer appends the end of the staged file's name.
    name = file.name.removesuffix(Path(staged).suffix)
    try:
        location = stack.synthesizer.add_file_asset(
            packaging=cdk.FileAssetPackaging.FILE,
            source_hash=f"{staging.asset_hash}/{name}",
            file_name=staged,
            display_name=f"{scope.node.path}/{id_}",
        )
    except RuntimeError as error:  # jsii does not return the synthesizer of the stack
        raise JobDefinitionError(
            f"the stack '{stack.node.path}' has its own synthesizer, and with it {str(file)!r} "
            "cannot be uploaded under its name; allowed: the default synthesizer; put the file "
            "into S3 and name its s3:// address"
        ) from error
    return location.bucket_name, location.object_key
