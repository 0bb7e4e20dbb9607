"""What is released, and how."""
