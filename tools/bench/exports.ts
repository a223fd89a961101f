/**
 * `scripts/bench exports` measures the export of an 18 h transcript in every format, with 10,000 segments and a speaker
 * change at each: CPU and wall-clock time, size, and the peak memory of a child process if there is one.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ExportFormat, type ExportSegment, exportFormats, exportTranscript } from "../../src/exports/index.ts";
import { childrenOf, peakBytesOf } from "../shared/processes.ts";

const segmentCount = 10_000;
const segmentMilliseconds = 6_480;
const wordsPerSegment = 16;

/** Returns random words, the same on every run, with letters as frequent as in speech and at most `longest` of them. */
function pseudoWords(seed: number, letters: readonly string[], longest: number, count: number): string[] {
  let state = seed;
  const next = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  return Array.from({ length: count }, () =>
    Array.from({ length: 1 + next(longest) }, () => letters[next(letters.length)] ?? "").join(""),
  );
}

function transcript(letters: readonly string[], longest: number, space: string): ExportSegment[] {
  const vocabulary = pseudoWords(1, letters, longest, 5_000);
  const order = pseudoWords(2, ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"], 6, segmentCount * wordsPerSegment);
  return Array.from({ length: segmentCount }, (_, index) => {
    const start = index * segmentMilliseconds;
    const perWord = (segmentMilliseconds - 500) / wordsPerSegment;
    const words = Array.from({ length: wordsPerSegment }, (_, word): ExportSegment["words"][number] => {
      const choice = Number(order[index * wordsPerSegment + word]) % vocabulary.length;
      const text = `${word === 0 ? "" : space}${vocabulary[choice]}${word === wordsPerSegment - 1 ? "." : ""}`;
      return [text, start + word * perWord, start + (word + 1) * perWord, 0.9];
    });
    const text = words.map(([word]) => word).join("");
    return {
      startMilliseconds: start,
      endMilliseconds: start + segmentMilliseconds - 500,
      speaker: index % 3,
      text,
      words,
    };
  });
}

/** Highest resident memory of a running child process, in MB. */
function childMemory(): number {
  return Math.round(Math.max(0, ...childrenOf(process.pid).map(peakBytesOf)) / 2 ** 20);
}

async function measure(format: ExportFormat, language: string, segments: readonly ExportSegment[]): Promise<void> {
  const workDirectory = await mkdtemp(join(tmpdir(), "transcribe-bench-"));
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, childMemory());
  }, 100);
  const cpu = process.cpuUsage();
  const start = performance.now();
  const head = {
    id: "bench",
    title: null,
    name: "bench",
    createdAt: 0,
    durationSeconds: 64_800,
    language,
    speakers: ["A", "B", "C"],
  };
  using made = await exportTranscript(format, { ...head, segments }, { path: join(workDirectory, "export") });
  const { size } = made.content;
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  clearInterval(watch);
  await rm(workDirectory, { recursive: true });
  const own = `${((user + system) / 1e6).toFixed(2)} s of this process`;
  const child = peak === 0 ? "" : `, child ${peak} MB`;
  console.log(
    `${language} ${format.padEnd(8)} ${seconds.toFixed(2)} s (${own}), ${(size / 1e6).toFixed(2)} MB${child}`,
  );
}

const latin = [..."eeeeaaiioouutttnnnsssrrrhhlldcmfpgwybvk"];
const chinese = Array.from({ length: 3000 }, (_, index) => String.fromCodePoint(0x4e00 + index * 5));
const arabic = [..."اااالللمميينننوورتتبدسعهفقكحجشصطخذ"];
const devanagari = ["क", "त", "न", "र", "स", "म", "का", "कि", "ने", "हैं", "प्र", "त्र", "ल", "ह", "जो", "व", "ग", "द"];

for (const format of exportFormats) await measure(format, "en", transcript(latin, 8, " "));
await measure("srt", "zh", transcript(chinese, 2, ""));
await measure("pdf", "zh", transcript(chinese, 2, ""));
await measure("pdf", "ar", transcript(arabic, 8, " "));
await measure("pdf", "hi", transcript(devanagari, 5, " "));
