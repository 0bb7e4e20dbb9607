"""What tests of the drop-in replacements share: sets, calls, and how their results are compared."""
