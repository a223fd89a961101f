import { join } from "node:path";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type ExportFormat, type ExportSegment, exportFormats, exportTranscript } from "../../src/exports/index.ts";
import { defineCommand } from "../shared/command.ts";
import { inMib } from "../shared/figures.ts";
import { childrenOf, PeakWatch } from "../shared/processes.ts";

const SEGMENTS = 10_000;
const SEGMENT_MILLISECONDS = 6_480;
const PAUSE_MILLISECONDS = 500;
const WORDS = 16;

/** A script: its letters, as frequent as in speech; the most letters of a word; and what separates words. */
interface Script {
  readonly letters: readonly string[];
  readonly longest: number;
  readonly space: string;
}

const latin: Script = { letters: [..."eeeeaaiioouutttnnnsssrrrhhlldcmfpgwybvk"], longest: 8, space: " " };
const chinese: Script = {
  letters: Array.from({ length: 3000 }, (_, index) => String.fromCodePoint(0x4e00 + index * 5)),
  ...{ longest: 2, space: "" },
};
const arabic: Script = { letters: [..."اااالللمميينننوورتتبدسعهفقكحجشصطخذ"], longest: 8, space: " " };
const devanagari: Script = {
  letters: ["क", "त", "न", "र", "स", "म", "का", "कि", "ने", "हैं", "प्र", "त्र", "ल", "ह", "जो", "व", "ग", "द"],
  ...{ longest: 5, space: " " },
};

export const command = defineCommand({
  name: "scripts/bench exports",
  about:
    "Measures the export of an 18 h transcript in every format, with 10,000 segments and a speaker change at each: CPU " +
    "and wall-clock time, size, and the peak memory of a child process if there is one.",
  options: {},
  async run() {
    for (const format of exportFormats) await measure(format, "en", transcript(latin));
    await measure("srt", "zh", transcript(chinese));
    await measure("pdf", "zh", transcript(chinese));
    await measure("pdf", "ar", transcript(arabic));
    await measure("pdf", "hi", transcript(devanagari));
  },
});

async function measure(format: ExportFormat, language: string, segments: readonly ExportSegment[]): Promise<void> {
  using folder = temporaryDirectory();
  using watch = new PeakWatch(() => childrenOf(process.pid).map((pid) => ["child", pid]));
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const head = {
    ...{ id: "bench", title: null, name: "bench", createdAt: 0, durationSeconds: 64_800, language },
    speakers: ["A", "B", "C"],
  };
  using made = await exportTranscript(format, { ...head, segments }, { path: join(folder.path, "export") });
  const { size } = made.content;
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const own = `${((user + system) / 1e6).toFixed(2)} s of this process`;
  const peak = watch.peakBytes.child;
  const child = peak === undefined ? "" : `, child ${inMib(peak)}`;
  console.log(
    `${language} ${format.padEnd(8)} ${seconds.toFixed(2)} s (${own}), ${(size / 1e6).toFixed(2)} MB${child}`,
  );
}

/** Returns segments of words that are chosen at random from 5,000, the same on every run. */
function transcript({ letters, longest, space }: Script): ExportSegment[] {
  const random = randomNumbers(1);
  const next = (below: number) => Math.floor(random() * below);
  const vocabulary = Array.from({ length: 5_000 }, () =>
    Array.from({ length: 1 + next(longest) }, () => letters[next(letters.length)] ?? "").join(""),
  );
  const perWord = (SEGMENT_MILLISECONDS - PAUSE_MILLISECONDS) / WORDS;
  return Array.from({ length: SEGMENTS }, (_, index) => {
    const start = index * SEGMENT_MILLISECONDS;
    const words = Array.from({ length: WORDS }, (_, word): ExportSegment["words"][number] => {
      const text = vocabulary[next(vocabulary.length)];
      const spaced = `${word === 0 ? "" : space}${text}${word === WORDS - 1 ? "." : ""}`;
      return [spaced, start + word * perWord, start + (word + 1) * perWord, 0.9];
    });
    const end = start + SEGMENT_MILLISECONDS - PAUSE_MILLISECONDS;
    const text = words.map(([word]) => word).join("");
    return { startMilliseconds: start, endMilliseconds: end, speaker: index % 3, text, words };
  });
}
