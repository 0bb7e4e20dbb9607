"""The public names of this package that are not those of sedscope itself."""

from .calibration import Calibration as Calibration
from .calibration import calibrate as calibrate
