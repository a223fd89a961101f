import { join } from "node:path";
import { diarizationErrors, errorRates } from "../../harness/der.ts";
import { randomNumbers } from "../../harness/random-numbers.ts";
import type { NamedTurn } from "../../harness/rttm.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type LongConversation, makeLongConversation } from "./long-conversation.ts";
import { type Processed, processConversation } from "./process-conversation.ts";
import { inMib, mib, type PartOptions, type Row, readingRows } from "./row.ts";

const shortSeconds = 600;
const hourSeconds = 3600;

/**
 * hours: processes a recording of two hours completely, and compares it with recordings of ten minutes and of one hour.
 */
export function hours(options: PartOptions): Promise<Row[]> {
  return compare(options, 2, true);
}

/**
 * eighteen: processes a recording of 18 hours. Whisper is replaced by the known words; server and worker do everything
 * else.
 */
export function eighteen(options: PartOptions): Promise<Row[]> {
  return compare(options, 18, false);
}

async function compare(options: PartOptions, usualHours: number, withWhisper: boolean): Promise<Row[]> {
  const longSeconds = (options.hours ?? usualHours) * 3600;
  const run = async (seconds: number) => {
    using folder = temporaryDirectory();
    const reportProgress = (text: string) => options.reportProgress(`${(seconds / 3600).toFixed(2)} h: ${text}`);
    reportProgress("make");
    const talk = await makeLongConversation(join(folder.path, "talk.wav"), seconds, randomNumbers(options.seed));
    return { talk, done: await processConversation(talk, withWhisper, reportProgress) };
  };
  const short = await run(shortSeconds);
  const hour = longSeconds > hourSeconds ? await run(hourSeconds) : null;
  const long = await run(longSeconds);
  return hoursRows(long.talk, long.done, short.done, hour?.done ?? null);
}

/** Additional memory that a server may use for a long recording, compared with one of ten minutes. */
const MAX_SERVER_GROWTH_BYTES = 64 * mib;
const steps = ["decode", "detect", "transcribe", "diarize", "finalize"];
/** Minimum speech of a speaker in the first and the last span for the comparison of labels. */
const MIN_SPEECH_SECONDS = 20;

/**
 * Returns the rows of a long recording, compared with one of ten minutes for memory, and with one of an hour for time.
 */
export function hoursRows(talk: LongConversation, long: Processed, short: Processed, hour: Processed | null): Row[] {
  const over = `${hoursOf(long)} h compared with ${hoursOf(short)} h`;
  const memory = (one: Processed) => ({
    server: one.watch.peak("serverBytes", ...steps),
    worker: one.watch.peak("workerBytes"),
  });
  const [most, least] = [memory(long), memory(short)];
  const grown = most.server - least.server;
  const labels = stableLabels(talk, long);
  const { errorRate, confusion } = errorRates(diarizationErrors(talk.turns, turnsOf(long)));
  const { p99, slowest } = long.polls.sum();
  return [
    {
      measured: "worker's memory",
      value: `${inMib(most.worker)}, ${(most.worker / least.worker).toFixed(2)} × ${inMib(least.worker)}`,
      over,
      target: "1.5 ×",
      ok: most.worker <= 1.5 * least.worker,
    },
    {
      measured: "server's memory",
      value: `${inMib(most.server)}, ${grown < 0 ? "" : "+"}${inMib(grown)}`,
      over,
      target: `+${inMib(MAX_SERVER_GROWTH_BYTES)}`,
      ok: grown <= MAX_SERVER_GROWTH_BYTES,
    },
    ...steps.flatMap((step) => timeRow(step, long, hour)),
    {
      measured: "speakers with a stable label",
      value: `${labels.stable} of ${labels.speakers}`,
      over: "first and last span",
      target: "all",
      ok: labels.speakers > 0 && labels.stable === labels.speakers,
    },
    {
      measured: "diarization errors (DER)",
      value: `${percent(errorRate)}, ${percent(confusion)} confused`,
      over: `${long.segments.length} segments`,
      target: "25 %",
      ok: errorRate <= 0.25,
    },
    {
      measured: "disk space during processing",
      value: inMib(long.watch.peak("diskBytes") - long.diskBefore),
      over: `${hoursOf(long)} h, a WAV file`,
      target: "",
      ok: true,
    },
    {
      measured: "disk space after completion",
      value: inMib(long.diskAfter - long.diskBefore),
      over: "upload and text",
      target: "upload + 64 MiB",
      ok: long.diskAfter - long.diskBefore <= talk.seconds * 32_000 + 64 * mib,
    },
    {
      measured: "GET during processing",
      value: `p99 ${p99.toFixed(0)} ms, maximum ${slowest.took.toFixed(0)} ms`,
      over: long.polls.describe(),
      target: "50 ms",
      ok: p99 < 50,
    },
    ...readingRows(long, long.took, long.watch),
  ];
}

/** Compares CPU time, which is independent of other work on the machine. */
function timeRow(step: string, long: Processed, hour: Processed | null): Row[] {
  const took = (one: Processed) => `${perHour(one, one.took.get(step)).toFixed(1)} s`;
  const worked = (one: Processed) => perHour(one, one.cpuSeconds.get(step));
  const value = `${worked(long).toFixed(1)} s of CPU time per hour (${took(long)})`;
  if (hour === null) return [{ measured: step, value, over: `${hoursOf(long)} h`, target: "", ok: true }];
  // Durations below two seconds per hour are less than the interval between two polls.
  const ok = worked(long) <= Math.max(1.1 * worked(hour), worked(hour) + 2);
  return [
    { measured: step, value, over: `${worked(hour).toFixed(1)} s (${took(hour)}) in one hour`, target: "1.1 ×", ok },
  ];
}

function perHour({ seconds }: Processed, part = 0): number {
  return (part * 3600) / seconds;
}

/** Returns how many speakers of the first and the last span have the same label in both; spans of an hour at most. */
function stableLabels(talk: LongConversation, long: Processed): { speakers: number; stable: number } {
  const spanSeconds = Math.min(3600, talk.seconds / 3);
  const found = turnsOf(long);
  const first = labelsIn(talk.turns, found, 0, spanSeconds);
  const last = labelsIn(talk.turns, found, talk.seconds - spanSeconds, talk.seconds);
  const speakers = [...first.keys()].filter((speaker) => last.has(speaker));
  const stable = speakers.filter((speaker) => first.get(speaker) === last.get(speaker));
  return { speakers: speakers.length, stable: stable.length };
}

/** Returns the label with the largest overlap with each speaker between two times. */
function labelsIn(real: readonly NamedTurn[], found: readonly NamedTurn[], from: number, to: number) {
  const inside = (turn: NamedTurn) => turn.startSeconds >= from && turn.endSeconds <= to;
  const inRange = found.filter(inside);
  const shared = new Map<string, Map<string, number>>();
  const spoken = new Map<string, number>();
  for (const turn of real.filter(inside)) {
    spoken.set(turn.speaker, (spoken.get(turn.speaker) ?? 0) + turn.endSeconds - turn.startSeconds);
    const labels = shared.get(turn.speaker) ?? new Map<string, number>();
    shared.set(turn.speaker, labels);
    for (const one of inRange) {
      const seconds = Math.min(turn.endSeconds, one.endSeconds) - Math.max(turn.startSeconds, one.startSeconds);
      if (seconds > 0) labels.set(one.speaker, (labels.get(one.speaker) ?? 0) + seconds);
    }
  }
  const most = new Map<string, string>();
  for (const [speaker, labels] of shared) {
    const [best] = [...labels].sort(([, a], [, b]) => b - a);
    if (best !== undefined && (spoken.get(speaker) ?? 0) >= MIN_SPEECH_SECONDS) most.set(speaker, best[0]);
  }
  return most;
}

function turnsOf({ segments }: Processed): NamedTurn[] {
  return segments.map(({ start, end, speaker }) => ({ startSeconds: start, endSeconds: end, speaker }));
}

function hoursOf({ seconds }: Processed): string {
  return (seconds / 3600).toFixed(seconds < 3600 ? 2 : 0);
}

function percent(part: number): string {
  return `${(100 * part).toFixed(1)} %`;
}
