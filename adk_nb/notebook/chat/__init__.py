"""A conversation in a box under a cell."""
