"""Everything seen in Jupyter: runs and their views, drawings, forms, the calculator's sliders."""
