"""Small files of events in the exact layouts that other tools write, and the events that they hold."""

from . import annotation_tools, birdnet, json_files, seizures, tables
from .sample import Sample

SAMPLES: dict[str, Sample] = {
    **tables.SAMPLES,
    **annotation_tools.SAMPLES,
    **birdnet.SAMPLES,
    **seizures.SAMPLES,
    **json_files.SAMPLES,
}
