"""The public names of the package of tasks, and where they are defined."""

from .publication import publish_task as publish_task
from .publication import write_codabench_bundle as write_codabench_bundle
from .submission_check import SubmissionCheck as SubmissionCheck
from .submission_check import check_submission as check_submission
from .task import ChunkRule as ChunkRule
from .task import Dataset as Dataset
from .task import GroupRule as GroupRule
from .task import LabelRule as LabelRule
from .task import Task as Task
from .task_evaluation import TaskEvaluation as TaskEvaluation
from .task_evaluation import evaluate_task as evaluate_task
from .task_files import read_task as read_task
from .task_files import write_task as write_task
from .task_ranking import rank_task as rank_task
