"""Where the pass over the clips runs: on threads, in parts kept in a folder, or on a cluster."""
