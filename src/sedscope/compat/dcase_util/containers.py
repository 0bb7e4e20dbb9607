"""The event lists of sed_eval."""

from ..sed_eval.event_lists import MetaDataContainer, MetaDataItem, refuse

__all__ = ["MetaDataContainer", "MetaDataItem", "ProbabilityContainer"]
ProbabilityContainer = MetaDataContainer  # of items with filename, label and probability
__getattr__ = refuse
