"""One job as Glue has it, as what `add_job` declares."""
