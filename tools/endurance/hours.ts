import { join } from "node:path";
import { diarizationErrors, errorRates } from "../../harness/der.ts";
import { randomNumbers } from "../../harness/random-numbers.ts";
import type { NamedTurn } from "../../harness/rttm.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { sharedSeconds } from "../../src/timeline/index.ts";
import { inMib, MIB, percent } from "../shared/figures.ts";
import { makeLongConversation } from "./long-conversation.ts";
import { type Processed, processConversation } from "./process-conversation.ts";
import { all, figure, type PartOptions, type Row, row } from "./rows.ts";
import { serverMemoryRow } from "./store.ts";
import { readingRows } from "./watch-server.ts";

const SHORT_SECONDS = 600;
const HOUR_SECONDS = 3600;
const STEPS = ["decode", "detect", "transcribe", "diarize", "finalize"];
/** Minimum speech of a speaker in the first and the last span for the comparison of labels. */
const MIN_SPEECH_SECONDS = 20;
const UPLOAD_BYTES_PER_SECOND = 32_000;

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
  const longSeconds = (options.hours ?? usualHours) * HOUR_SECONDS;
  const run = async (seconds: number) => {
    using folder = temporaryDirectory();
    const report = (text: string) => options.reportProgress(`${(seconds / HOUR_SECONDS).toFixed(2)} h: ${text}`);
    report("make");
    const talk = await makeLongConversation(join(folder.path, "talk.wav"), seconds, randomNumbers(options.seed));
    return await processConversation(talk, withWhisper, report);
  };
  const short = await run(SHORT_SECONDS);
  const hour = longSeconds > HOUR_SECONDS ? await run(HOUR_SECONDS) : null;
  return rowsOf(await run(longSeconds), short, hour);
}

/** Returns the rows of a long recording, compared with one of ten minutes for memory, and of an hour for time. */
function rowsOf(long: Processed, short: Processed, hour: Processed | null): Row[] {
  const over = `${hoursOf(long)} h compared with ${hoursOf(short)} h`;
  const [most, least] = [long.watch.peak("workerBytes"), short.watch.peak("workerBytes")];
  const worker = `${inMib(most)}, ${(most / least).toFixed(2)} × ${inMib(least)}`;
  const labels = stableLabels(long);
  const { errorRate, confusion } = errorRates(diarizationErrors(long.talk.turns, turnsOf(long)));
  const errors = `${percent(errorRate)}, ${percent(confusion)} confused`;
  const during = inMib(long.watch.peak("diskBytes") - long.diskBefore);
  const after = long.diskAfter - long.diskBefore;
  const isReleased = after <= long.talk.seconds * UPLOAD_BYTES_PER_SECOND + 64 * MIB;
  return [
    row("worker's memory", worker, over, "1.5 ×", most <= 1.5 * least),
    serverMemoryRow(long.watch, short.watch, STEPS, over),
    ...STEPS.map((step) => timeRow(step, long, hour)),
    all("speakers with a stable label", labels.stable, labels.speakers, "first and last span"),
    row("diarization errors (DER)", errors, `${long.segments.length} segments`, "25 %", errorRate <= 0.25),
    figure("disk space during processing", during, `${hoursOf(long)} h, a WAV file`),
    row("disk space after completion", inMib(after), "upload and text", "upload + 64 MiB", isReleased),
    long.watch.pollRow("GET during processing", { p99: 50 }),
    ...readingRows(long),
  ];
}

/** Compares CPU time, which is independent of other work on the machine. */
function timeRow(step: string, long: Processed, hour: Processed | null): Row {
  const perHour = ({ watch, talk }: Processed, what: "seconds" | "cpuSeconds") =>
    ((watch.took[what].get(step) ?? 0) * HOUR_SECONDS) / talk.seconds;
  const described = (one: Processed) => [perHour(one, "cpuSeconds"), perHour(one, "seconds")].map((s) => s.toFixed(1));
  const worked = perHour(long, "cpuSeconds");
  const [cpu, wall] = described(long);
  const value = `${cpu} s of CPU time per hour (${wall} s)`;
  if (hour === null) return figure(step, value, `${hoursOf(long)} h`);
  const [hourCpu, hourWall] = described(hour);
  const workedInHour = perHour(hour, "cpuSeconds");
  // Durations below two seconds per hour are less than the interval between two polls.
  const ok = worked <= Math.max(1.1 * workedInHour, workedInHour + 2);
  return row(step, value, `${hourCpu} s (${hourWall} s) in one hour`, "1.1 ×", ok);
}

/** Returns how many speakers of the first and the last span have the same label in both; spans of an hour at most. */
function stableLabels(long: Processed): { readonly speakers: number; readonly stable: number } {
  const { turns, seconds } = long.talk;
  const spanSeconds = Math.min(HOUR_SECONDS, seconds / 3);
  const found = turnsOf(long);
  const first = labelsIn(turns, found, 0, spanSeconds);
  const last = labelsIn(turns, found, seconds - spanSeconds, seconds);
  const speakers = [...first.keys()].filter((speaker) => last.has(speaker));
  return { speakers: speakers.length, stable: speakers.filter((each) => first.get(each) === last.get(each)).length };
}

/** Returns the label with the largest overlap with each speaker between two times. */
function labelsIn(real: readonly NamedTurn[], found: readonly NamedTurn[], from: number, to: number) {
  const inside = (turn: NamedTurn) => turn.startSeconds >= from && turn.endSeconds <= to;
  const labels = Map.groupBy(found.filter(inside), ({ speaker }) => speaker);
  const best = new Map<string, string>();
  for (const [speaker, turns] of Map.groupBy(real.filter(inside), (turn) => turn.speaker)) {
    const spoken = turns.reduce((sum, turn) => sum + turn.endSeconds - turn.startSeconds, 0);
    const overlaps = [...labels].map(([label, others]) => [label, overlapOf(turns, others)] as const);
    const [most] = overlaps.filter(([, seconds]) => seconds > 0).sort(([, a], [, b]) => b - a);
    if (most !== undefined && spoken >= MIN_SPEECH_SECONDS) best.set(speaker, most[0]);
  }
  return best;
}

/** Returns the seconds that two lists of turns have in common. */
function overlapOf(turns: readonly NamedTurn[], others: readonly NamedTurn[]): number {
  let seconds = 0;
  for (const one of turns) {
    for (const other of others) {
      seconds += sharedSeconds(one, other);
    }
  }
  return seconds;
}

function turnsOf({ segments }: Processed): NamedTurn[] {
  return segments.map(({ start, end, speaker }) => ({ startSeconds: start, endSeconds: end, speaker }));
}

function hoursOf({ talk: { seconds } }: Processed): string {
  return (seconds / HOUR_SECONDS).toFixed(seconds < HOUR_SECONDS ? 2 : 0);
}
