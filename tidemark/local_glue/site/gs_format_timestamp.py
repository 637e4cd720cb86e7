"""Glue Studio's transform Format Timestamp, as a method of frames once this is imported."""

from awsglue.dynamicframe import DynamicFrame
from tidemark.local_glue.frames.studio import attach, with_formatted

attach("gs_format_timestamp", with_formatted, DynamicFrame)
