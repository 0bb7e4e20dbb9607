"""Several systems: compared on the same clips, or ranked, and which differences exceed chance."""
