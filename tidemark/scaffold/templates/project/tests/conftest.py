"""Fixtures of this project; those of Glue come with tidemark-glue[test]: lake, glue_job and so on."""
