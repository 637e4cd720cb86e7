"""Glue Studio's transform Regex Extractor, as a method of frames once this is imported."""

from awsglue.dynamicframe import DynamicFrame
from tidemark.studio.columns import with_matches
from tidemark.studio.transforms import attach

attach("gs_regex_extract", with_matches, DynamicFrame)
