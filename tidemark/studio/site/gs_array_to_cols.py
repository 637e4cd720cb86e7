"""Glue Studio's transform Array To Columns, as a method of frames once this is imported."""

from awsglue.dynamicframe import DynamicFrame
from tidemark.studio.transforms import attach, with_elements

attach("gs_array_to_cols", with_elements, DynamicFrame)
