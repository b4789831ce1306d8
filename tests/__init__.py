"""Tests, in folders that mirror `adk_nb`; `browser` drives a real JupyterLab."""
