"""Glue Studio's transform Format Timestamp, as a method of frames once this is imported."""

from awsglue.dynamicframe import DynamicFrame
from tidemark.studio.transforms import attach, with_formatted

attach("gs_format_timestamp", with_formatted, DynamicFrame)
