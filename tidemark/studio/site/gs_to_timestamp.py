"""Glue Studio's transform To Timestamp, as a method of frames once this is imported."""

from awsglue.dynamicframe import DynamicFrame
from tidemark.studio.transforms import attach, with_timestamp

attach("gs_to_timestamp", with_timestamp, DynamicFrame)
