"""`Gemini`: Google's models through the google-genai client."""
