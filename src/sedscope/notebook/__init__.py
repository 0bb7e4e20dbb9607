"""How objects appear in notebooks: small HTML tables, data frames and progress bars."""
