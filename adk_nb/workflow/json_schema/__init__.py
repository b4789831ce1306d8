"""What a JSON schema allows and what is said about a value that doesn't fit, for questions, forms and agents."""
