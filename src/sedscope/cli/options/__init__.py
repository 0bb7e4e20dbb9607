"""Options that several commands share: how they are grouped, read, checked and passed on."""
