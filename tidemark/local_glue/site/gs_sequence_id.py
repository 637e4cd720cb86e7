"""Glue Studio's transform Identifier, as a method of frames once this is imported."""

from awsglue.dynamicframe import DynamicFrame
from tidemark.local_glue.frames.studio import attach
from tidemark.local_glue.frames.studio_values import with_id

attach("gs_sequence_id", with_id, DynamicFrame)
