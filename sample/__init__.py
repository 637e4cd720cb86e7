"""The sample: its data, how they are landed, and the story of the demo with its proof."""
