"""Room for Glue's transforms; ``from awsglue.transforms import *`` works and imports none yet."""

from typing import NoReturn

__all__: list[str] = []


def __getattr__(name: str) -> NoReturn:
    if name.startswith("_"):
        raise AttributeError(name)
    raise NotImplementedError(
        f"awsglue.transforms.{name} does not run on this machine yet; use Spark on toDF()"
    )
