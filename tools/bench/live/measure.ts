import { bodyOf, type TestClient } from "../../../harness/client.ts";
import { segmentPageContract } from "../../../harness/contract.ts";
import { familyCpuSeconds, sendAtOnce } from "../../../harness/measured-server.ts";
import type { TestServer } from "../../../harness/server.ts";
import { SAMPLE_RATE } from "../../../src/timeline/index.ts";
import { total } from "../../shared/figures.ts";
import { familyOf, peakBytesOf, resetPeak } from "../../shared/processes.ts";
import { type Display, type Judgement, judge } from "./judge.ts";
import { play } from "./play.ts";
import type { LiveProgram } from "./programs.ts";
import { beginningOf, type Track } from "./sound.ts";
import { type RecognizedWord, type SpokenWord, spokenWords, textsOfPieces } from "./spoken-words.ts";

/** A track, with the words that are spoken in it and what a batch transcript made of them. */
export interface KnownTrack extends Track {
  readonly spoken: readonly SpokenWord[];
  /** Text of each piece. */
  readonly batchTexts: readonly string[];
}

/** Sessions of one program at the same time. */
export interface LiveRun {
  readonly program: string;
  readonly sessions: number;
  /** Longest track that was played. */
  readonly seconds: number;
  /** Wall time, and CPU time of all processes. */
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
  /** Peak resident memory of all processes. */
  readonly peakBytes: number;
  readonly of: readonly SessionRun[];
}

interface SessionRun extends Judgement {
  /** See `Played`. */
  readonly endedAfter: number | null;
  readonly displays: readonly Display[];
  /** Final text of each piece, with that of a batch transcript and the reference text. */
  readonly texts: readonly { readonly final: string; readonly batch: string; readonly said: string | null }[];
}

/** Time between the starts of sessions, so that they do not compute in step. */
const APART_SECONDS = 2.5;
/** Sound that a program gets before it is measured. */
const WARM_UP_SECONDS = 6;

/** Transcribes a track as a recording, for the times of its words and for its word errors. */
export async function transcribeTrack(server: TestServer, track: Track, language: string | null): Promise<KnownTrack> {
  const { client, ids } = await sendAtOnce(server, [track.file], { fields: language === null ? {} : { language } });
  const words = (await Promise.all(ids.map((id) => wordsOf(client, id)))).flat();
  const spoken = spokenWords(track.pieces, words);
  const text = words.map((word) => word.text).join(" ");
  return { ...track, spoken, batchTexts: textsOfPieces(track.pieces, spoken, text) };
}

async function wordsOf(client: TestClient, id: string): Promise<RecognizedWord[]> {
  const response = await client.fetch(`/transcriptions/${id}/segments?limit=1000&words=true`);
  const { data } = await bodyOf(response, 200, segmentPageContract);
  return data
    .flatMap(({ words = [] }) => words)
    .map(({ text, start: startSeconds, end: endSeconds }) => ({ text, startSeconds, endSeconds }));
}

/** Returns the beginning of a track with its words, see `beginningOf`. */
export function knownBeginningOf(track: KnownTrack, seconds: number): KnownTrack {
  const cut = beginningOf(track, seconds);
  const { length } = cut.pieces;
  const spoken = track.spoken.filter(({ piece }) => piece < length);
  return { ...cut, spoken, batchTexts: track.batchTexts.slice(0, length) };
}

/** Lets a program load its model and compile its code. @throws {Error} when it refuses a session */
export async function warmUp({ protocol }: LiveProgram, { samples }: Track): Promise<void> {
  await play(protocol, samples.subarray(0, WARM_UP_SECONDS * SAMPLE_RATE));
}

/** Plays tracks in sessions at the same time, one for each. @throws {Error} when a session is refused or fails */
export async function measureSessions(
  { name, pid, protocol }: LiveProgram,
  tracks: readonly KnownTrack[],
): Promise<LiveRun> {
  for (const each of familyOf(pid)) resetPeak(each);
  const cpuBefore = familyCpuSeconds(pid);
  const startedAt = performance.now();
  const played = await Promise.all(
    tracks.map(async ({ samples }, index) => {
      await Bun.sleep(1000 * APART_SECONDS * index);
      return play(protocol, samples);
    }),
  );
  const wallSeconds = (performance.now() - startedAt) / 1000;
  const cpuSeconds = familyCpuSeconds(pid) - cpuBefore;
  return {
    ...{ program: name, sessions: tracks.length, wallSeconds, cpuSeconds },
    seconds: Math.max(...tracks.map(({ samples }) => samples.length)) / SAMPLE_RATE,
    peakBytes: total(familyOf(pid), peakBytesOf),
    of: tracks.flatMap(({ pieces, spoken, batchTexts }, index) => {
      const { displays, endedAfter } = played[index] ?? { displays: [], endedAfter: null };
      const texts = textsOfPieces(pieces, spoken, displays.at(-1)?.final ?? "");
      const each = pieces.map(({ text: said }, at) => ({ final: texts[at] ?? "", batch: batchTexts[at] ?? "", said }));
      return [{ ...judge(displays, spoken, pieces), endedAfter, displays, texts: each }];
    }),
  };
}
