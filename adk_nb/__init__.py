"""Agent workflows in Jupyter: code decides what runs next, a model is called only where judgment is needed."""
