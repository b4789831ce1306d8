"""The calls that an agent's model makes: its tools, the agents below it, and what comes back."""
