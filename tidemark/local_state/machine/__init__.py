"""This machine: its disk, its Java, and processes that must not be left over."""
