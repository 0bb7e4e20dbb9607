"""What users bring, checked on arrival: scores, ground truth, detections and times."""
