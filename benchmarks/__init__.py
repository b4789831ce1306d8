"""Measure adk_nb's engine beside other workflow engines: `python -m benchmarks.run`."""
