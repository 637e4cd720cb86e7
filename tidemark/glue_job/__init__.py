"""The parts of AWS's Python API that do not run here, and how their use is refused."""
