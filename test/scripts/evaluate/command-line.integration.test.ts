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
const cases: readonly (readonly [what: string, part: string, args: readonly string[], status: number, says: string])[] =
  [
    ["help", "", ["--help"], 0, "--only ASPECT"],
    ["help on diarization", "diarization", ["-h"], 0, "scripts/evaluate diarization"],
    ["help on devices", "devices", ["--help"], 0, "--gpu WHICH"],
    ["help on slots", "slots", ["--help"], 0, "scripts/evaluate slots"],
    ["no slots", "slots", ["--slots", "0"], 2, "--slots is a whole number from 1, not 0"],
    ["help on hints", "hints", ["--help"], 0, "scripts/evaluate hints"],
    ["help on translation", "translation", ["--help"], 0, "scripts/evaluate translation"],
    [
      "--write with a selection of translations",
      "translation",
      ["--write", "de-"],
      2,
      "--write stores the whole table",
    ],
    ["help on voices", "voices", ["--help"], 0, "--more DIRECTORY"],
    ["a corpus without a manifest for voices", "voices", ["--audio", folder], 2, "contains no manifest.json"],
    ["--write with a selection of hints", "hints", ["--write", "dlg-"], 2, "--write stores the whole table"],
    [
      "a name that no recording has for hints",
      "hints",
      ["--audio", corpus, "no-such-name"],
      1,
      "no recording has such",
    ],
    [
      "a curve of an unknown constant",
      "curve",
      ["ofNothing=1"],
      2,
      "ofNothing is no constant; the constants are ofVoices,",
    ],
    ["a curve without values", "curve", ["ofMeans"], 2, "ofMeans has no values; name them: ofMeans=0.4,0.5"],
    ["a curve with a value that is no number", "curve", ["ofMeans=0.4,x"], 2, "ofMeans=0.4,x has no values"],
    ["an unknown part of the rooms", "rooms", ["loud"], 2, "the parts are tuned, checked, sealed, quiet"],
    ["an unknown option", "", ["--bogus"], 2, "evaluate: Unknown option '--bogus'; scripts/evaluate --help"],
    [
      "an unknown option of diarization",
      "diarization",
      ["--write"],
      2,
      "evaluate: Unknown option '--write'; scripts/evaluate diarization --help",
    ],
    ["an unknown CPU variant", "", ["--cpu", "haswel"], 2, "--cpu is auto, "],
    ["an unknown aspect", "", ["--only", "nothing"], 2, "--only is words, speakers, times or invented, not nothing"],
    ["--write with a selection", "", ["--write", "dlg-"], 2, "--write stores the whole table"],
    ["a corpus without a manifest", "", ["--audio", folder], 2, "contains no manifest.json"],
    [
      "a name that no recording has",
      "",
      ["--audio", corpus, "no-such-name"],
      1,
      "evaluate: no recording has such a name",
    ],
    [
      "a name that no recording has for diarization",
      "diarization",
      ["--audio", corpus, "no-such-name"],
      1,
      "evaluate: no recording with turns has",
    ],
    [
      "a name that no recording has for devices",
      "devices",
      ["--audio", corpus, "no-such"],
      1,
      "evaluate: no recording of single/ has",
    ],
  ];

test.each(cases)(
  "scripts/evaluate answers %s in one sentence before any work",
  async (_, part, args, status, says) => {
    const child = Bun.spawn(
      [process.execPath, "--no-env-file", join(folder, "index.ts"), ...(part === "" ? [] : [part]), ...args],
      {
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    expect(status === 0 ? output : errors).toContain(says);
    expect(status === 0 ? errors : output).toBe("");
    expect(errors).not.toContain("    at ");
    expect(child.exitCode).toBe(status);
  },
  30_000,
);
