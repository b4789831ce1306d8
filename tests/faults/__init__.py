"""Faults that people met in engines like this one.

Each test tells one fault by its right behaviour. Where that could depend on how a workflow is run, the test runs it in
every way: in memory and in a file, in one process and in a new one for each turn, alone, nested, started by a node.
"""
