"""Runs in hand: started, answered, gone on with, found again in a store."""
