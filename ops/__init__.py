"""The operator's command line, `tidemark`: parses, calls, prints."""
