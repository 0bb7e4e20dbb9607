"""What tests share: the oracle, samples, and judges from outside."""
