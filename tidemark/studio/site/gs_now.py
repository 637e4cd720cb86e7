"""Glue Studio's transform Add Current Timestamp, as a method of frames once this is imported."""

from awsglue.dynamicframe import DynamicFrame
from tidemark.studio.transforms import attach, with_time

attach("gs_now", with_time, DynamicFrame)
