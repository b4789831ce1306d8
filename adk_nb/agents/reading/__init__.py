"""What an agent's model gets to read: instructions, the conversation as the agent may see it, the whole request."""
