"""Where errors come from: each detection and reference with its error type."""

from .alarm_latencies import AlarmLatencies as AlarmLatencies
from .alarm_latencies import ClassLatencies as ClassLatencies
from .alarm_latencies import alarm_latencies as alarm_latencies
from .boundary_errors import BoundaryErrors as BoundaryErrors
from .boundary_errors import ClassBoundaryErrors as ClassBoundaryErrors
from .boundary_errors import boundary_errors as boundary_errors
from .clips import ClipCosts as ClipCosts
from .clips import ClipDiagnosis as ClipDiagnosis
from .clips import JudgedEvent as JudgedEvent
from .clips import clip_costs as clip_costs
from .clips import diagnose_clip as diagnose_clip
from .corrections import CorrectedTruth as CorrectedTruth
from .corrections import Correction as Correction
from .corrections import apply_corrections as apply_corrections
from .corrections import read_corrections as read_corrections
from .diagnose import ClassDiagnosis as ClassDiagnosis
from .diagnose import Confusions as Confusions
from .diagnose import Diagnosis as Diagnosis
from .diagnose import diagnose as diagnose
from .error_list import ErrorList as ErrorList
from .error_list import ListedError as ListedError
from .error_list import list_errors as list_errors
from .suspicion import suspected_annotations as suspected_annotations
