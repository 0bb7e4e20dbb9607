"""The interfaces of other tools, computed by sedscope. They need pandas (extra ``compat``)."""
