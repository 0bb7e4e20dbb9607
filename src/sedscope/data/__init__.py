"""What users bring, checked at the door: scores, ground truth, detections, times, alignment."""
