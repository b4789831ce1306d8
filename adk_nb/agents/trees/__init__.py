"""A tree of agents as a whole: what is worth a look in it, and how it is drawn."""
