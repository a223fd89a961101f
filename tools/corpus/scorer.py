"""Scores texts and turns with the standard tools of the field: Whisper's text normalizers and pyannote.metrics.

JSON on standard input: {"texts": [[language, text]…], "talks": [[turns, turns]…]}, where a turn is [start, end, speaker].
JSON on standard output: {"texts": [normalised…], "talks": [{"total", "false_alarm", "missed", "confusion"}…]}, in seconds.
"""

import json
import sys
import warnings

from pyannote.core import Annotation, Segment
from pyannote.metrics.diarization import DiarizationErrorRate
from whisper_normalizer.basic import BasicTextNormalizer
from whisper_normalizer.english import EnglishTextNormalizer

# pyannote.metrics chooses the scored span itself: from the first turn to the last one, as intended.
warnings.filterwarnings("ignore", message="'uem' was approximated")

english = EnglishTextNormalizer()
basic = BasicTextNormalizer()


def normalise(language: str, text: str) -> str:
    return english(text) if language == "en" else basic(text)


def annotation(turns: list) -> Annotation:
    made = Annotation()
    for track, (start, end, speaker) in enumerate(turns):
        made[Segment(start, end), track] = speaker
    return made


def errors(reference: list, found: list) -> dict:
    parts = DiarizationErrorRate().compute_components(annotation(reference), annotation(found))
    names = {"total": "total", "false_alarm": "false alarm", "missed": "missed detection", "confusion": "confusion"}
    return {ours: parts[theirs] for ours, theirs in names.items()}


question = json.load(sys.stdin)
json.dump(
    {
        "texts": [normalise(*text) for text in question["texts"]],
        "talks": [errors(*talk) for talk in question["talks"]],
    },
    sys.stdout,
)
