"""From aligned clips to deltas, and from deltas to counts at every threshold."""
