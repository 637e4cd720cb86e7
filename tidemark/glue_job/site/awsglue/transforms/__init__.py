"""Glue's transforms, for ``from awsglue.transforms import *``.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-python-transforms.html
"""

import json

from awsglue.transforms.apply_mapping import ApplyMapping
from awsglue.transforms.coalesce import Coalesce
from awsglue.transforms.collection_transforms import FlatMap, MapToCollection, SelectFromCollection
from awsglue.transforms.drop_nulls import DropNullFields
from awsglue.transforms.dynamicframe_filter import Filter
from awsglue.transforms.dynamicframe_map import Map
from awsglue.transforms.errors_as_dynamicframe import ErrorsAsDynamicFrame
from awsglue.transforms.field_transforms import (
    DropFields,
    Join,
    RenameField,
    SelectFields,
    Spigot,
    SplitFields,
    SplitRows,
)
from awsglue.transforms.relationalize import Relationalize
from awsglue.transforms.repartition import Repartition
from awsglue.transforms.resolve_choice import ResolveChoice
from awsglue.transforms.transform import GlueTransform
from awsglue.transforms.unbox import Unbox
from awsglue.transforms.union import Union
from awsglue.transforms.unnest_frame import UnnestFrame

__all__ = [
    "ApplyMapping",
    "Coalesce",
    "DropFields",
    "DropNullFields",
    "ErrorsAsDynamicFrame",
    "Filter",
    "FlatMap",
    "GlueTransform",
    "Join",
    "Map",
    "MapToCollection",
    "Relationalize",
    "RenameField",
    "Repartition",
    "ResolveChoice",
    "SelectFields",
    "SelectFromCollection",
    "Spigot",
    "SplitFields",
    "SplitRows",
    "Unbox",
    "Union",
    "UnnestFrame",
]
ALL_TRANSFORMS: set[type[GlueTransform]] = {globals()[name] for name in __all__} - {GlueTransform}


def get_transforms() -> set[GlueTransform]:
    """Return an instance of each transform."""
    return {transform() for transform in ALL_TRANSFORMS}


def get_transform(name: str) -> GlueTransform | None:
    """Return a transform by its name in any case; None if it is missing."""
    by_name = {transform.name().lower(): transform for transform in get_transforms()}
    return by_name.get(name.lower())


def describe_transform(name: str) -> str:
    """Return the description of a transform as JSON; an empty object if it is missing."""
    transform = get_transform(name)
    description = transform.describe() if transform else {}
    return json.dumps(description, sort_keys=True, indent=4, separators=(",", ": "))
