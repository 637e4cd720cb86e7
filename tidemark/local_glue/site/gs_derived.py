"""Glue Studio's transform Derived Column, as a method of frames once this is imported."""

from awsglue.dynamicframe import DynamicFrame
from tidemark.local_glue.frames.studio import attach, with_derived

attach("gs_derived", with_derived, DynamicFrame)
