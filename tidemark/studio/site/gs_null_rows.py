"""Glue Studio's transform Remove Null Rows, as a method of frames once this is imported."""

from awsglue.dynamicframe import DynamicFrame
from tidemark.studio.transforms import attach, without_null_rows

attach("gs_null_rows", without_null_rows, DynamicFrame)
