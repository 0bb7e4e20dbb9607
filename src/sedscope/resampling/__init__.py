"""Bootstrap: draws of clips, intervals of metrics, and metrics measured for many draws at once."""
