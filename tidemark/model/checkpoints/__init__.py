"""The data that a job run read, wrote and moved, recorded under its run id at its commit."""
