"""Glue Studio's transform To Timestamp, as a method of frames once this is imported."""

from awsglue.dynamicframe import DynamicFrame
from tidemark.local_glue.frames.studio import attach, with_timestamp

attach("gs_to_timestamp", with_timestamp, DynamicFrame)
