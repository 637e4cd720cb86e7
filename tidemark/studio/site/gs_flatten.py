"""Glue Studio's transform Flatten, as a method of frames once this is imported."""

from awsglue.dynamicframe import DynamicFrame
from tidemark.studio.transforms import attach, flattened

attach("gs_flatten", flattened, DynamicFrame)
