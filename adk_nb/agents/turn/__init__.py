"""One turn of an agent: who speaks, the model asked, the answer told, where a run stands after a pause."""
