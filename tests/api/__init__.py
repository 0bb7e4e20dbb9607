"""The public interface, held to a stored list."""
