"""Glue Studio's transform Concatenate Columns, as a method of frames once this is imported."""

from awsglue.dynamicframe import DynamicFrame
from tidemark.studio.transforms import attach, with_concatenated

attach("gs_concat", with_concatenated, DynamicFrame)
