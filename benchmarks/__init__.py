"""Measurements, each a command of its own: `python -m benchmarks.NAME`; `make bench` runs them all.

What is compared is measured in turns within one run, so that ratios hold on a noisy machine.
"""
