"""Glue's transforms, for ``from awsglue.transforms import *``."""

from awsglue.transforms.collection_transforms import SelectFromCollection
from awsglue.transforms.relationalize import Relationalize
from awsglue.transforms.transform import GlueTransform
from tidemark.local_glue.unsupported.refusals import install

__all__ = ["GlueTransform", "Relationalize", "SelectFromCollection"]
__all__ += install(__name__)
