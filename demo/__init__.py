"""`make demo`: the pipeline's story on real data, and the proof that its result is right.

`story` lands data and runs the synthesized pipeline three times, `recompute` is the independent
check. Nothing here ships.
"""
