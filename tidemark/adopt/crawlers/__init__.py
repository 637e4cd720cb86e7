"""One crawler as Glue has it, as what `add_crawler` declares."""
