"""The peers as judges: they run in an environment of their own and are asked through files."""
