import type { Aspect, Heard } from "./collect.ts";
import type { Group, Reference } from "./corpus.ts";
import { diarizationTurns } from "./diarization-turns.ts";
import { textOf } from "./hypotheses.ts";
import type { Joined } from "./joined.ts";
import { type Invented, inventedBetween, inventedIn } from "./measure-invented.ts";
import { countedOtherwise, type SpeakerResult, speakerResults } from "./measure-speakers.ts";
import { edgeErrors, wordsOutside } from "./measure-times.ts";
import {
  longestRepeat,
  type Rate,
  saidIn,
  speakerWordErrors,
  sum,
  textErrors,
  textsOf,
  unitsOf,
} from "./measure-words.ts";
import type { Scoring } from "./scorer.ts";
import { uncovered } from "./spans.ts";

export interface WordResult {
  readonly path: string;
  readonly group: Group;
  readonly language: string;
  readonly heardLanguage: string | null;
  /** Null where two speak at once, each on a channel: there is no order. */
  readonly all: Rate | null;
  /** Words in error or at the wrong speaker; null where nobody says who said what. */
  readonly bySpeaker: Rate | null;
  /** Words of the longest phrase that was heard more often than said. */
  readonly longestRepeat: number;
  readonly said: string;
  readonly heard: string;
}

/** Recordings that were joined, beside the same ones apart. */
export interface JoinedResult {
  readonly name: string;
  readonly all: Rate;
  /** The same recordings apart; null where not all of them were chosen. */
  readonly apart: Rate | null;
  readonly language: string;
  readonly heardLanguage: string | null;
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
  /** By the segments, as the API gives them. */
  readonly segmentSpeakers: readonly SpeakerResult[];
  /** By the diarization alone. */
  readonly turnSpeakers: readonly SpeakerResult[];
  /** Recordings whose diarization errors our own tests would count otherwise than pyannote.metrics. */
  readonly countedOtherwise: readonly string[];
  readonly times: readonly TimeResult[];
  readonly invented: readonly Invented[];
  /** What faster-whisper wrote for the same recordings, where it was asked. */
  readonly peer: { readonly name: string; readonly words: readonly WordResult[] } | null;
}

/** What another program made of recordings. */
export interface HeardByPeer {
  readonly name: string;
  readonly recordings: Heard["recordings"];
}

/** Measures what was heard. @param peer what another made of the same recordings, of which the words are measured */
export async function measure(
  scorer: Scoring,
  heard: Heard,
  wanted: ReadonlySet<Aspect>,
  peer: HeardByPeer | null,
): Promise<Results> {
  const { recordings } = heard;
  const speakers = wanted.has("speakers")
    ? recordings.map(({ reference, hypothesis }) => ({ reference, turns: hypothesis.segments }))
    : [];
  const turns = await diarizationTurns(speakers.map(({ reference }) => reference));
  const segmentSpeakers = await speakerResults(scorer, speakers);
  const turnSpeakers = await speakerResults(scorer, turns);
  return {
    ...(wanted.has("words") ? await wordResults(scorer, recordings, heard.joined) : { words: [], joined: [] }),
    peer: peer === null ? null : { name: peer.name, ...(await wordResults(scorer, peer.recordings, [])) },
    ...{ segmentSpeakers, turnSpeakers },
    countedOtherwise: [...countedOtherwise(speakers, segmentSpeakers), ...countedOtherwise(turns, turnSpeakers)],
    times: wanted.has("times") ? timeResults(heard) : [],
    invented: wanted.has("invented") ? inventedResults(heard) : [],
  };
}

async function wordResults(scorer: Scoring, recordings: Heard["recordings"], joined: Heard["joined"]) {
  const withText = recordings.filter(({ reference }) => reference.text !== null || reference.spoken !== null);
  const whole = joined.map(({ made, hypothesis }) => ({ made, reference: asReference(made), hypothesis }));
  const texts = [...withText, ...whole].flatMap(({ reference, hypothesis }) => textsOf(reference, hypothesis));
  const normalise = await scorer.normalise(texts);
  const common = ({ reference, hypothesis }: Pick<(typeof withText)[number], "reference" | "hypothesis">) => {
    const units = (text: string) => unitsOf(normalise, reference.language, text);
    const said = saidIn(reference);
    return {
      language: reference.language,
      heardLanguage: hypothesis.language,
      longestRepeat: longestRepeat(units(said), units(textOf(hypothesis))),
      said: units(said).join(" "),
      heard: units(textOf(hypothesis)).join(" "),
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

/** A recording that was made of others, as if it were one of the corpus. */
function asReference({ name, file, parts, language }: Joined): Reference {
  return {
    ...{ path: name, file, language, group: "single", speakers: 0, durationSeconds: 0, exact: false },
    text: parts.map(({ text }) => text).join(" "),
    ...{ turns: null, wordTurns: null, spoken: null },
  };
}

function timeResults({ recordings }: Heard): TimeResult[] {
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

function inventedResults({ recordings, joined, noSpeech }: Heard): Invented[] {
  return [
    ...noSpeech.map(({ made, hypothesis }) => inventedIn(made.name, made.seconds, hypothesis)),
    ...joined.map(({ made, hypothesis }) => inventedBetween(made.name, made.gaps, hypothesis)),
    ...recordings.flatMap(({ reference: { exact, path, turns, durationSeconds }, hypothesis }) => {
      if (!exact || turns === null) return [];
      const gaps = uncovered({ startSeconds: 0, endSeconds: durationSeconds }, turns);
      return [inventedBetween(path, gaps, hypothesis)];
    }),
  ];
}
