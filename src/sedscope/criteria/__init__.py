"""When a reference event counts as found and a detection as false: one module per criterion."""
