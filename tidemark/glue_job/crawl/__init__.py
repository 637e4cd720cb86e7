"""Tables that a crawler of Glue would define for folders: format, columns, partitions."""
