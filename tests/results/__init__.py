"""Tests of tables and of what is written from them."""
