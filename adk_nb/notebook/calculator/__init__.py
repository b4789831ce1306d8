"""The calculator under a cell: sliders, menus, tables, and what runs say to fit it."""
