"""Glue's transforms, for ``from awsglue.transforms import *``; others are refused by name."""

from typing import NoReturn

from awsglue.transforms.collection_transforms import SelectFromCollection
from awsglue.transforms.relationalize import Relationalize
from awsglue.transforms.transform import GlueTransform

__all__ = ["GlueTransform", "Relationalize", "SelectFromCollection"]


def __getattr__(name: str) -> NoReturn:
    if name.startswith("_"):
        raise AttributeError(name)
    raise NotImplementedError(
        f"awsglue.transforms.{name} does not run on this machine yet; use Spark on toDF()"
    )
