"""Makes meetings of single voices in simulated rooms, with exact turns.

JSON on standard input: {"voices": {person: [path…]}, "meetings": [{"file", "seed", "people", "seconds", "tempo",
"overlap", "snr", "room"}…]}. Writes each meeting as a FLAC file of one channel with 16 kHz.
JSON on standard output: [{"seconds", "turns": [[start, end, person]…]}…] in the order of the meetings.
"""

import json
import sys

import numpy
import pyroomacoustics as rooms
import soundfile
from scipy import signal

RATE = 16000
FRAME = RATE // 100
# Speech is what is at most this much quieter than the loudest frames of a recording.
SPEECH_DECIBELS = 25
QUIETER_DECIBELS = 12
# Silences from this length on divide phrases. The turns of one person join over shorter ones than the second value.
PAUSE_SECONDS = 0.25
JOINED_SECONDS = 0.5
MIN_PHRASE_SECONDS = 0.3
MAX_PHRASE_SECONDS = 2.2
# Width, depth and height in metres, and the reverberation time in seconds.
ROOMS = {
    "office": ((3.2, 4.1, 2.6), 0.25),
    "meeting": ((5.8, 4.9, 2.9), 0.45),
    "hall": ((10.5, 8.2, 3.6), 0.7),
}
# Limits of a turn's length, and of the time to the next turn, in seconds.
TEMPOS = {"quick": ((0.4, 2.2), (0.02, 0.5)), "slow": ((2.0, 9.0), (0.1, 1.2))}


def load(path: str) -> numpy.ndarray:
    samples, rate = soundfile.read(path, dtype="float64", always_2d=True)
    mono = samples.mean(axis=1)
    return mono if rate == RATE else signal.resample_poly(mono, RATE, rate)


def levels(samples: numpy.ndarray) -> numpy.ndarray:
    count = len(samples) // FRAME
    power = (samples[: count * FRAME].reshape(count, FRAME) ** 2).mean(axis=1)
    return 10 * numpy.log10(power + 1e-12)


def phrases(samples: numpy.ndarray) -> list:
    """Returns the phrases of a recording as [first, last) frames, each of at most MAX_PHRASE_SECONDS.

    A phrase is speech without a silence of PAUSE_SECONDS. A long one is divided at its deepest dips.
    """
    loud = numpy.convolve(levels(samples), numpy.ones(3) / 3, "same")
    found = []
    for frame in numpy.flatnonzero(loud > numpy.percentile(loud, 95) - SPEECH_DECIBELS):
        if found and frame - found[-1][1] < PAUSE_SECONDS * 100:
            found[-1][1] = frame + 1
        else:
            found.append([frame, frame + 1])
    usual = numpy.median([loud[first:last].max() for first, last in found])
    # What is much quieter than the rest is a breath or a noise.
    left = [(first, last) for first, last in reversed(found) if loud[first:last].max() > usual - QUIETER_DECIBELS]
    least, most = int(MIN_PHRASE_SECONDS * 100), int(MAX_PHRASE_SECONDS * 100)
    done = []
    while left:
        first, last = left.pop()
        if last - first <= most:
            done += [(first, last)] if last - first >= least else []
            continue
        low, high = first + 2 * least, min(first + most, last - least)
        cut = low + int(numpy.argmin(loud[low:high]))
        left += [(cut, last), (first, cut)]
    return done


class Voice:
    """The phrases of one person, each used as rarely as possible."""

    def __init__(self, paths: list, random: numpy.random.Generator):
        self.random = random
        self.recordings = []
        for samples in map(load, paths):
            found = phrases(samples)
            # Recordings differ in level; in a meeting, one person is about as loud all the time.
            power = numpy.concatenate([samples[first * FRAME : last * FRAME] ** 2 for first, last in found])
            self.recordings.append((samples / numpy.sqrt(power.mean()), found, [0] * len(found)))

    def speech(self, shortest: float, longest: float) -> tuple:
        """Returns consecutive phrases of a length between the limits, if there are any.

        The result is the samples, and the first and last second of each phrase in them.
        """
        least = min(min(uses) for _, _, uses in self.recordings)
        starts = [
            (recording, phrase)
            for recording, (_, _, uses) in enumerate(self.recordings)
            for phrase, count in enumerate(uses)
            if count == least
        ]
        recording, phrase = starts[self.random.integers(len(starts))]
        samples, found, uses = self.recordings[recording]
        wanted = self.random.uniform(shortest, longest) * 100
        spans = []
        for first, last in found[phrase:]:
            if spans and (spans[-1][1] - spans[0][0] >= wanted or last - spans[0][0] > longest * 100):
                break
            uses[phrase + len(spans)] += 1
            spans.append((first, last))
        first, last = spans[0][0], spans[-1][1]
        if last - first > longest * 100:
            # A single phrase for a back-channel: its beginning, up to a dip.
            loud = levels(samples[first * FRAME : last * FRAME])[: int(longest * 100)]
            last = first + int(shortest * 100) + int(numpy.argmin(loud[int(shortest * 100) :]))
            spans = [(first, last)]
        return samples[first * FRAME : last * FRAME], [((a - first) / 100, (b - first) / 100) for a, b in spans]


def plan(meeting: dict, voices: dict, random: numpy.random.Generator, crossing: float) -> list:
    """Returns the turns as (start in seconds, person, samples, phrases).

    `crossing` is how often a turn begins in the one before.
    """
    (shortest, longest), (least, most) = TEMPOS[meeting["tempo"]]
    people = meeting["people"]
    # Some speak much, some hardly.
    shares = random.dirichlet([1.5] * len(people))
    turns, at, before = [], 0.3, None
    for person in people:
        turns.append((at, person, *voices[person].speech(shortest, longest)))
        at += len(turns[-1][2]) / RATE + random.uniform(least, most)
        before = person
    while at < meeting["seconds"]:
        odds = numpy.array([0 if person == before else share + 0.05 for person, share in zip(people, shares)])
        person = people[random.choice(len(people), p=odds / odds.sum())]
        turns.append((at, person, *voices[person].speech(shortest, longest)))
        seconds = len(turns[-1][2]) / RATE
        if seconds > 3.5 and random.random() < min(0.9, 0.2 + crossing):
            # Another one says a word or two meanwhile, a back-channel. It ends before the next turn may begin.
            listener = random.choice([one for one in people if one != person])
            speech, spans = voices[listener].speech(0.3, 0.8)
            moment = at + random.uniform(0.3, max(0.4, seconds - 1.8 - len(speech) / RATE))
            turns.append((moment, str(listener), speech, spans))
        is_crossed = random.random() < crossing
        at += seconds + (-random.uniform(0.15, min(1.8, seconds * 0.6)) if is_crossed else random.uniform(least, most))
        before = person
    return sorted(turns, key=lambda turn: turn[0])


def joined(turns: list) -> list:
    """Returns [start, end, person] in seconds; the phrases of a person join over pauses shorter than JOINED_SECONDS."""
    spoken = sorted((at + start, at + end, person) for at, person, _, spans in turns for start, end in spans)
    found, last = [], {}
    for start, end, person in spoken:
        before = last.get(person)
        if before and start - before[1] < JOINED_SECONDS:
            before[1] = max(before[1], end)
        else:
            last[person] = [round(start, 3), round(end, 3), person]
            found.append(last[person])
    return found


def overlap(turns: list) -> float:
    """Returns the share of the time with speech in which several people speak."""
    frames = numpy.zeros(int(max(end for _, end, _ in turns) * 100) + 1)
    for start, end, _ in turns:
        frames[int(start * 100) : int(end * 100)] += 1
    return float((frames > 1).sum() / (frames > 0).sum())


def responses(meeting: dict, random: numpy.random.Generator) -> dict:
    """Returns some impulse responses for each person, who moves a little during the meeting."""
    size, reverberation = ROOMS[meeting["room"]]
    size = numpy.array(size) * random.uniform(0.9, 1.1, 3)
    absorption, order = rooms.inverse_sabine(reverberation * random.uniform(0.8, 1.2), size)
    room = rooms.ShoeBox(size, fs=RATE, materials=rooms.Material(absorption), max_order=min(order, 14))
    table = size * [0.5, 0.5, 0] + [*random.uniform(-0.4, 0.4, 2), 0.8]
    room.add_microphone(table)
    angles = numpy.linspace(0, 2 * numpy.pi, len(meeting["people"]), endpoint=False) + random.uniform(0, 1)
    places = []
    for person, angle in zip(meeting["people"], angles):
        reach = random.uniform(0.5, min(3.5, min(size[:2]) / 2 - 0.5))
        for _ in range(3):
            spot = table + [reach * numpy.cos(angle), reach * numpy.sin(angle), random.uniform(0.3, 0.5)]
            room.add_source(numpy.clip(spot + random.uniform(-0.15, 0.15, 3), 0.2, size - 0.2))
            places.append(person)
    room.compute_rir()
    found = {}
    for person, response in zip(places, room.rir[0]):
        # The turn is when the speech arrives.
        arrival = int(numpy.argmax(numpy.abs(response) > 0.3 * numpy.abs(response).max()))
        found.setdefault(person, []).append(response[arrival:])
    return found


def noise(length: int, random: numpy.random.Generator) -> numpy.ndarray:
    """Returns noise between pink and brown with a hum, as of ventilation and devices."""
    spectrum = numpy.fft.rfft(random.standard_normal(length))
    frequencies = numpy.maximum(numpy.fft.rfftfreq(length, 1 / RATE), 20)
    sound = numpy.fft.irfft(spectrum / frequencies ** random.uniform(0.5, 1), length)
    hum = numpy.sin(2 * numpy.pi * random.choice([50, 60, 100, 120]) * numpy.arange(length) / RATE)
    sound = sound / sound.std() + random.uniform(0, 0.3) * hum
    return sound / sound.std()


def make(meeting: dict, paths: dict) -> dict:
    # The share of overlap grows with `crossing`; the nearest of some attempts is taken.
    attempts = []
    for crossing in numpy.linspace(0, 1, 11):
        random = numpy.random.default_rng(meeting["seed"])
        voices = {person: Voice(paths[person], random) for person in meeting["people"]}
        planned = plan(meeting, voices, random, crossing)
        attempts.append((abs(overlap(joined(planned)) - meeting["overlap"]), crossing, planned))
    _, _, planned = min(attempts, key=lambda attempt: attempt[:2])
    random = numpy.random.default_rng(meeting["seed"] + 1_000_000)
    heard = responses(meeting, random)
    loudness = {person: 10 ** (random.uniform(-4, 4) / 20) for person in meeting["people"]}
    mixed = numpy.zeros(int(max(at * RATE + len(speech) for at, _, speech, _ in planned)) + RATE)
    for at, person, speech, _ in planned:
        fade = numpy.minimum(1, numpy.arange(1, len(speech) + 1) / (0.01 * RATE))
        dry = speech * fade * fade[::-1] * loudness[person] * 10 ** (random.uniform(-2, 2) / 20)
        wet = signal.fftconvolve(dry, heard[person][random.integers(3)])
        start = int(at * RATE)
        end = min(len(mixed), start + len(wet))
        mixed[start:end] += wet[: end - start]
    turns = joined(planned)
    spoken = numpy.zeros(len(mixed), bool)
    for start, end, _ in turns:
        spoken[int(start * RATE) : int(end * RATE)] = True
    level = mixed[spoken].std() * 10 ** (-meeting["snr"] / 20)
    mixed += level * noise(len(mixed), random)
    soundfile.write(meeting["file"], 0.5 * mixed / numpy.abs(mixed).max(), RATE, subtype="PCM_16", format="FLAC")
    return {"seconds": len(mixed) / RATE, "turns": turns}


question = json.load(sys.stdin)
json.dump([make(meeting, question["voices"]) for meeting in question["meetings"]], sys.stdout)
