"""Static figures for papers, drawn with matplotlib.

Every function draws on the axes or the figure that it gets, or on new ones, and returns the axes.
matplotlib is imported only when a plot is drawn.
"""

from .clip_picture import plot_clip as plot_clip
from .values import plot_groups as plot_groups
