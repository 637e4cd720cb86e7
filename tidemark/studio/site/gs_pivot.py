"""Glue Studio's transform Pivot Rows Into Columns, as a method of frames once this is imported."""

from awsglue.dynamicframe import DynamicFrame
from tidemark.studio.transforms import attach, pivoted

attach("gs_pivot", pivoted, DynamicFrame)
