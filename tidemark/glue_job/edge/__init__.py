"""The edge of a job's process: what a run changes outside of it is announced here."""
