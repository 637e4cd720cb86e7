"""Which days or numbers of a job are loaded, and the job runs that load the others again."""
