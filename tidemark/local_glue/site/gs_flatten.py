"""Glue Studio's transform Flatten, as a method of frames once this is imported."""

from awsglue.dynamicframe import DynamicFrame
from tidemark.local_glue.frames.studio import attach, flattened

attach("gs_flatten", flattened, DynamicFrame)
