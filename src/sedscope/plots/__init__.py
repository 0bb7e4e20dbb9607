"""Static figures for papers, drawn with matplotlib."""
