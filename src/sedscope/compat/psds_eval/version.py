"""The version of psds_eval whose interface this is."""

__version__ = "0.5.3"
