"""What a person sees of a run, live under a cell and in the copy that is saved: folds, forms, pages."""
