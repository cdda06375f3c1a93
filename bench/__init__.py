"""The figures of the specification, measured as ratios in one run on one machine."""
