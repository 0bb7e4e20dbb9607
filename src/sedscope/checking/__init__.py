"""Validation: what is wrong or unusual about scores and ground truth, before they are evaluated."""
