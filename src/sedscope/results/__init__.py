"""How results are shown: tables as text, data frames, and what notebooks show."""
