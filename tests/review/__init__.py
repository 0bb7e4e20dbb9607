"""Plans of reviews and what is estimated from them."""
