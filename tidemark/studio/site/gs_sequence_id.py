"""Glue Studio's transform Identifier, as a method of frames once this is imported."""

from awsglue.dynamicframe import DynamicFrame
from tidemark.studio.columns import with_id
from tidemark.studio.transforms import attach

attach("gs_sequence_id", with_id, DynamicFrame)
