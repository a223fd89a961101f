import { type Reference, type Scoring, sum, unitsOf } from "../corpus/index.ts";
import type { Made } from "./made-recordings.ts";
import { type Hypothesis, textOf } from "./server.ts";
import { diarizationTurns, scorerMismatches, speakerResults } from "./speakers.ts";
import {
  edgeErrors,
  type HallucinatedWords,
  hallucinatedIn,
  hallucinatedInGaps,
  uncovered,
  wordsOutside,
} from "./times.ts";
import { uncertainResult } from "./uncertain-speakers.ts";
import { longestRepeat, referenceTextOf, speakerWordErrors, textErrors, textsOf } from "./words.ts";

/** Aspects that can be measured separately. */
export const aspects = ["words", "speakers", "times", "invented"] as const;
export type Aspect = (typeof aspects)[number];

interface TranscribedReference {
  readonly reference: Reference;
  readonly hypothesis: Hypothesis;
}

/** Recordings and the results of a server of this checkout. */
export interface Transcribed {
  readonly recordings: readonly TranscribedReference[];
  readonly made: readonly { readonly made: Omit<Made, "make">; readonly hypothesis: Hypothesis }[];
}

/** The results of another program for the same recordings. */
export interface Peer {
  readonly name: string;
  readonly recordings: readonly TranscribedReference[];
}

export type Results = Awaited<ReturnType<typeof measure>>;
type WordResults = Awaited<ReturnType<typeof wordResults>>;
export type WordResult = WordResults["words"][number];
/** Joined recordings, compared with the same recordings transcribed separately. */
export type JoinedResult = WordResults["joined"][number];
export type TimeResult = ReturnType<typeof timeResult>;

/**
 * Measures the results of a server.
 * @param peer results of another program for the same recordings; only their words are measured
 */
export async function measure(
  scorer: Scoring,
  { recordings, made }: Transcribed,
  wanted: readonly Aspect[],
  peer: Peer | null,
) {
  const exact = recordings.flatMap(({ reference, hypothesis }) => {
    return reference.exact && reference.turns !== null ? [{ ...reference, turns: reference.turns, hypothesis }] : [];
  });
  const speakers = wanted.includes("speakers")
    ? recordings.map(({ reference, hypothesis }) => ({ reference, turns: hypothesis.segments }))
    : [];
  const turns = await diarizationTurns(speakers.map(({ reference }) => reference));
  const segmentSpeakers = await speakerResults(scorer, speakers);
  const turnSpeakers = await speakerResults(scorer, turns);
  const peerWords = peer === null ? null : (await wordResults(scorer, peer.recordings, [])).words;
  const none: WordResults = { words: [], joined: [] };
  return {
    ...(wanted.includes("words") ? await wordResults(scorer, recordings, made) : none),
    /** Results of another program, if requested. */
    peer: peer === null || peerWords === null ? null : { name: peer.name, words: peerWords },
    /** Speakers of the segments that the API returns. */
    segmentSpeakers,
    /** Segments whose speaker is marked as uncertain. */
    uncertain: wanted.includes("speakers")
      ? recordings.flatMap(({ reference, hypothesis }) => uncertainResult(reference, hypothesis) ?? [])
      : [],
    /** Speakers of the diarization without the words. */
    turnSpeakers,
    /** Recordings for which harness/der.ts and pyannote.metrics disagree. */
    scorerMismatches: [...scorerMismatches(speakers, segmentSpeakers), ...scorerMismatches(turns, turnSpeakers)],
    times: wanted.includes("times") ? exact.map(timeResult) : [],
    invented: wanted.includes("invented") ? [...made.map(inventedInMade), ...exact.map(inventedInGaps)] : [],
  };
}

type Exact = Reference & { readonly turns: NonNullable<Reference["turns"]>; readonly hypothesis: Hypothesis };

function timeResult({ path, turns, spoken, hypothesis }: Exact) {
  const words = hypothesis.segments.flatMap((segment) => segment.words);
  const counts = { turns: spoken?.length ?? 0, words: words.length, outside: wordsOutside(turns, words).length };
  return { path, ...edgeErrors(spoken ?? [], words), ...counts };
}

function inventedInMade({ made: { name, parts, gaps }, hypothesis }: Transcribed["made"][number]): HallucinatedWords {
  return (parts.length === 0 ? hallucinatedIn : hallucinatedInGaps)(name, gaps, hypothesis);
}

function inventedInGaps({ path, turns, durationSeconds, hypothesis }: Exact): HallucinatedWords {
  return hallucinatedInGaps(path, uncovered({ startSeconds: 0, endSeconds: durationSeconds }, turns), hypothesis);
}

async function wordResults(scorer: Scoring, recordings: Transcribed["recordings"], made: Transcribed["made"]) {
  const withText = recordings.filter(({ reference }) => reference.text !== null || reference.spoken !== null);
  const joined = made
    .filter(({ made: { parts } }) => parts.length > 0)
    .map(({ made: { name, parts, language }, hypothesis }) => {
      return { name, parts, reference: asReference(name, language, parts), hypothesis };
    });
  const texts = [...withText, ...joined].flatMap(({ reference, hypothesis }) => textsOf(reference, hypothesis));
  const normalise = await scorer.normalise(texts);
  const common = ({ reference, hypothesis }: TranscribedReference) => {
    const units = (text: string) => unitsOf(normalise, reference.language, text);
    const [said, heard] = [units(referenceTextOf(reference)), units(textOf(hypothesis))];
    return {
      ...{ language: reference.language, detectedLanguage: hypothesis.language },
      /** Length in words of the longest phrase that was recognized more often than it was said. */
      longestRepeat: longestRepeat(said, heard),
      ...{ referenceText: said.join(" "), transcript: heard.join(" ") },
    };
  };
  const words = withText.map(({ reference, hypothesis }) => {
    const { path, group, text, spoken } = reference;
    return {
      ...{ path, group, ...common({ reference, hypothesis }) },
      /** Null when two people speak at the same time on separate channels: their words have no order. */
      all: text === null ? null : textErrors(normalise, reference, textOf(hypothesis)),
      /** Words that are wrong or have the wrong speaker; null when the speakers of the words are unknown. */
      bySpeaker: spoken === null ? null : speakerWordErrors(normalise, reference, hypothesis),
    };
  });
  return {
    words,
    joined: joined.map(({ name, parts, reference, hypothesis }) => {
      const apart = parts.flatMap(({ path }) => words.find((one) => one.path === path)?.all ?? []);
      return {
        ...{ name, ...common({ reference, hypothesis }) },
        all: textErrors(normalise, reference, textOf(hypothesis)),
        /** Errors of the same recordings transcribed separately; null when not all of them were selected. */
        apart: apart.length === parts.length ? sum(apart) : null,
      };
    }),
  };
}

/** Presents a joined recording as one of the corpus. */
function asReference(name: string, language: string, parts: readonly Reference[]): Reference {
  return {
    ...{ path: name, file: "", language, group: "single", speakers: 0, durationSeconds: 0, exact: false },
    text: parts.map(({ text }) => text).join(" "),
    ...{ turns: null, wordTurns: null, spoken: null },
  };
}
