"""What users bring, checked on arrival: scores, ground truth, detections, times and alignment."""
