"""Glue Studio's transform Regex Extractor, as a method of frames once this is imported."""

from awsglue.dynamicframe import DynamicFrame
from tidemark.local_glue.frames.studio import attach
from tidemark.local_glue.frames.studio_values import with_matches

attach("gs_regex_extract", with_matches, DynamicFrame)
