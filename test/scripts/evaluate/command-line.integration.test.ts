import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const folder = resolve(import.meta.dir, "../../../tools/evaluate");

/** An empty corpus. */
const corpus = mkdtempSync(join(tmpdir(), "evaluate-corpus-"));
writeFileSync(join(corpus, "manifest.json"), "[]");
afterAll(() => rmSync(corpus, { recursive: true }));

/** Command lines that are answered before any recording is transcribed and any package is installed. */
const cases: readonly (readonly [
  what: string,
  program: string,
  args: readonly string[],
  status: number,
  says: string,
])[] = [
  ["help", "index.ts", ["--help"], 0, "--only ASPECT"],
  ["help on diarization", "diarization.ts", ["-h"], 0, "scripts/evaluate diarization"],
  ["help on devices", "devices.ts", ["--help"], 0, "--gpu WHICH"],
  ["help on joint graphs", "joint.ts", ["--help"], 0, "scripts/evaluate joint"],
  ["no states", "joint.ts", ["--states", "0"], 2, "--states and --minutes take whole numbers from 1, not 0"],
  ["help on hints", "hints.ts", ["--help"], 0, "scripts/evaluate hints"],
  ["--write with a selection of hints", "hints.ts", ["--write", "dlg-"], 2, "--write stores the whole table"],
  [
    "a name that no recording has for hints",
    "hints.ts",
    ["--audio", corpus, "no-such-name"],
    1,
    "no recording has such",
  ],
  ["an unknown option", "index.ts", ["--bogus"], 2, "evaluate: Unknown option '--bogus'; scripts/evaluate --help"],
  ["an unknown option of diarization", "diarization.ts", ["--write"], 2, "evaluate: Unknown option '--write'; scripts"],
  ["an unknown aspect", "index.ts", ["--only", "nothing"], 2, "--only is one of words, speakers, times, invented"],
  ["--write with a selection", "index.ts", ["--write", "dlg-"], 2, "--write stores the whole table"],
  ["a corpus without a manifest", "index.ts", ["--audio", folder], 2, "contains no manifest.json"],
  [
    "a corpus without a manifest for diarization",
    "diarization.ts",
    ["--audio", folder],
    2,
    "contains no manifest.json",
  ],
  [
    "a name that no recording has",
    "index.ts",
    ["--audio", corpus, "no-such-name"],
    1,
    "evaluate: no recording has such a name",
  ],
  [
    "a name that no recording has for diarization",
    "diarization.ts",
    ["--audio", corpus, "no-such-name"],
    1,
    "evaluate: no recording with turns has",
  ],
  [
    "a name that no recording has for devices",
    "devices.ts",
    ["--audio", corpus, "no-such"],
    1,
    "evaluate: no recording of single/ has",
  ],
];

test.each(cases)(
  "scripts/evaluate answers %s in one sentence before any work",
  async (_, program, args, status, says) => {
    const child = Bun.spawn([process.execPath, "--no-env-file", join(folder, program), ...args], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    expect(status === 0 ? output : errors).toContain(says);
    expect(status === 0 ? errors : output).toBe("");
    expect(errors).not.toContain("    at ");
    expect(child.exitCode).toBe(status);
  },
  30_000,
);
