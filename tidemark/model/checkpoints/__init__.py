"""What one job run has read, written and moved, recorded under its run id when it committed."""
