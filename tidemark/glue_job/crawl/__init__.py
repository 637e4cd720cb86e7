"""What a crawler of Glue makes of folders: tables with format, columns and partitions."""
