"""Services that keep credentials for longer than a run."""
