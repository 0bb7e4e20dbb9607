"""Static figures for papers, drawn with matplotlib.

Every function draws on the axes that it gets, or on new ones, and returns them. matplotlib is imported
only when a plot is drawn.
"""
