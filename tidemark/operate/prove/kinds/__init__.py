"""The kinds of experiments: what each needs, how it is carried out, and why a job goes wrong."""
