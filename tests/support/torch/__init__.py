"""What tests of the training loop share: batches, and the work of distributed processes."""
