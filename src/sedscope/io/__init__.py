"""Files in and out: one module per format, and whatever a format needs is imported on first use."""
