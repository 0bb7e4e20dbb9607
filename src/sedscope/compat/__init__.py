"""Other tools' interfaces, computed by sedscope. They need pandas (extra ``compat``)."""
