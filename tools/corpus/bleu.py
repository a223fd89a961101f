"""Scores translations with sacreBLEU.

JSON on standard input: {"references": [text…], "systems": [[text…]…]}.
JSON on standard output: {"systems": [{"bleu", "low", "high", "chrf"}…]}; low and high are the bounds of BLEU's interval of 95 %
by bootstrap.
"""

import json
import sys

from sacrebleu.metrics import BLEU, CHRF

SAMPLES = 1000

question = json.load(sys.stdin)
references = [question["references"]]


def scores(texts: list) -> dict:
    found = BLEU().corpus_score(texts, references, n_bootstrap=SAMPLES)
    chrf = CHRF().corpus_score(texts, references)
    # sacreBLEU keeps the interval as a mean and half of its width.
    middle, half = found._mean, found._ci
    return {"bleu": found.score, "low": middle - half, "high": middle + half, "chrf": chrf.score}


json.dump({"systems": [scores(texts) for texts in question["systems"]]}, sys.stdout)
