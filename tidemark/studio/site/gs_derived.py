"""Glue Studio's transform Derived Column, as a method of frames once this is imported."""

from awsglue.dynamicframe import DynamicFrame
from tidemark.studio.transforms import attach, with_derived

attach("gs_derived", with_derived, DynamicFrame)
