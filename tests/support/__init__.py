"""What tests share: the oracle, examples, files to read, other tools as judges, and assertions."""
