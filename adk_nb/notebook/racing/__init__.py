"""A race: an agent loop and a graph on the same cases, measured side by side."""
