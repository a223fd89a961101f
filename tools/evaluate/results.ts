import type { Aspect, PeerTranscripts, Transcribed } from "./collect.ts";
import type { Group, Reference } from "./corpus.ts";
import { textOf } from "./evaluation-server.ts";
import type { Joined } from "./made-recordings.ts";
import { type HallucinatedWords, hallucinatedIn, hallucinatedInGaps } from "./measure-invented.ts";
import { diarizationTurns, type SpeakerResult, scorerMismatches, speakerResults } from "./measure-speakers.ts";
import { edgeErrors, uncovered, wordsOutside } from "./measure-times.ts";
import {
  longestRepeat,
  type Rate,
  referenceTextOf,
  speakerWordErrors,
  sum,
  textErrors,
  textsOf,
  unitsOf,
} from "./measure-words.ts";
import type { Scoring } from "./scorer.ts";

export interface WordResult {
  readonly path: string;
  readonly group: Group;
  readonly language: string;
  readonly detectedLanguage: string | null;
  /** Null when two people speak at the same time on separate channels: their words have no order. */
  readonly all: Rate | null;
  /** Words that are wrong or have the wrong speaker; null when the speakers of the words are unknown. */
  readonly bySpeaker: Rate | null;
  /** Length in words of the longest phrase that was recognized more often than it was said. */
  readonly longestRepeat: number;
  readonly referenceText: string;
  readonly transcript: string;
}

/** Joined recordings, compared with the same recordings transcribed separately. */
export interface JoinedResult {
  readonly name: string;
  readonly all: Rate;
  /** Errors of the same recordings transcribed separately; null when not all of them were selected. */
  readonly apart: Rate | null;
  readonly language: string;
  readonly detectedLanguage: string | null;
  readonly longestRepeat: number;
}

export interface TimeResult {
  readonly path: string;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  readonly turns: number;
  readonly words: number;
  readonly outside: number;
}

export interface Results {
  readonly words: readonly WordResult[];
  readonly joined: readonly JoinedResult[];
  /** Speakers of the segments that the API returns. */
  readonly segmentSpeakers: readonly SpeakerResult[];
  /** Speakers of the diarization without the words. */
  readonly turnSpeakers: readonly SpeakerResult[];
  /** Recordings for which harness/der.ts and pyannote.metrics disagree. */
  readonly scorerMismatches: readonly string[];
  readonly times: readonly TimeResult[];
  readonly invented: readonly HallucinatedWords[];
  /** Results of faster-whisper for the same recordings, if requested. */
  readonly peer: { readonly name: string; readonly words: readonly WordResult[] } | null;
}

/**
 * Measures the results of a server.
 * @param peer results of another program for the same recordings; only their words are measured
 */
export async function measure(
  scorer: Scoring,
  transcribed: Transcribed,
  wanted: ReadonlySet<Aspect>,
  peer: PeerTranscripts | null,
): Promise<Results> {
  const { recordings } = transcribed;
  const speakers = wanted.has("speakers")
    ? recordings.map(({ reference, hypothesis }) => ({ reference, turns: hypothesis.segments }))
    : [];
  const turns = await diarizationTurns(speakers.map(({ reference }) => reference));
  const segmentSpeakers = await speakerResults(scorer, speakers);
  const turnSpeakers = await speakerResults(scorer, turns);
  return {
    ...(wanted.has("words") ? await wordResults(scorer, recordings, transcribed.joined) : { words: [], joined: [] }),
    peer: peer === null ? null : { name: peer.name, ...(await wordResults(scorer, peer.recordings, [])) },
    ...{ segmentSpeakers, turnSpeakers },
    scorerMismatches: [...scorerMismatches(speakers, segmentSpeakers), ...scorerMismatches(turns, turnSpeakers)],
    times: wanted.has("times") ? timeResults(transcribed) : [],
    invented: wanted.has("invented") ? inventedResults(transcribed) : [],
  };
}

async function wordResults(scorer: Scoring, recordings: Transcribed["recordings"], joined: Transcribed["joined"]) {
  const withText = recordings.filter(({ reference }) => reference.text !== null || reference.spoken !== null);
  const whole = joined.map(({ made, hypothesis }) => ({ made, reference: asReference(made), hypothesis }));
  const texts = [...withText, ...whole].flatMap(({ reference, hypothesis }) => textsOf(reference, hypothesis));
  const normalise = await scorer.normalise(texts);
  const common = ({ reference, hypothesis }: Pick<(typeof withText)[number], "reference" | "hypothesis">) => {
    const units = (text: string) => unitsOf(normalise, reference.language, text);
    const said = referenceTextOf(reference);
    return {
      language: reference.language,
      detectedLanguage: hypothesis.language,
      longestRepeat: longestRepeat(units(said), units(textOf(hypothesis))),
      referenceText: units(said).join(" "),
      transcript: units(textOf(hypothesis)).join(" "),
    };
  };
  const words = withText.map(({ reference, hypothesis }): WordResult => {
    const { path, group, text, spoken } = reference;
    return {
      ...{ path, group, ...common({ reference, hypothesis }) },
      all: text === null ? null : textErrors(normalise, reference, textOf(hypothesis)),
      bySpeaker: spoken === null ? null : speakerWordErrors(normalise, reference, hypothesis),
    };
  });
  return {
    words,
    joined: whole.map(({ made, reference, hypothesis }): JoinedResult => {
      const apart = made.parts.flatMap(({ path }) => words.find((one) => one.path === path)?.all ?? []);
      return {
        ...{ name: made.name, ...common({ reference, hypothesis }) },
        all: textErrors(normalise, reference, textOf(hypothesis)),
        apart: apart.length === made.parts.length ? sum(apart) : null,
      };
    }),
  };
}

/** Presents a joined recording as one of the corpus. */
function asReference({ name, file, parts, language }: Joined): Reference {
  return {
    ...{ path: name, file, language, group: "single", speakers: 0, durationSeconds: 0, exact: false },
    text: parts.map(({ text }) => text).join(" "),
    ...{ turns: null, wordTurns: null, spoken: null },
  };
}

function timeResults({ recordings }: Transcribed): TimeResult[] {
  return recordings.flatMap(({ reference: { exact, path, turns, spoken }, hypothesis }) => {
    if (!exact || turns === null) return [];
    const words = hypothesis.segments.flatMap((segment) => segment.words);
    return [
      {
        ...{ path, ...edgeErrors(spoken ?? [], words) },
        turns: spoken?.length ?? 0,
        words: words.length,
        outside: wordsOutside(turns, words).length,
      },
    ];
  });
}

function inventedResults({ recordings, joined, noSpeech }: Transcribed): HallucinatedWords[] {
  return [
    ...noSpeech.map(({ made, hypothesis }) => hallucinatedIn(made.name, made.seconds, hypothesis)),
    ...joined.map(({ made, hypothesis }) => hallucinatedInGaps(made.name, made.gaps, hypothesis)),
    ...recordings.flatMap(({ reference: { exact, path, turns, durationSeconds }, hypothesis }) => {
      if (!exact || turns === null) return [];
      const gaps = uncovered({ startSeconds: 0, endSeconds: durationSeconds }, turns);
      return [hallucinatedInGaps(path, gaps, hypothesis)];
    }),
  ];
}
