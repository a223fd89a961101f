import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { corpusFiles } from "../../harness/bad-files/corpus-files.ts";
import { type End, examineAll } from "../../harness/bad-files/examine.ts";
import { mutate } from "../../harness/bad-files/mutate.ts";
import { playlists, playlistsInAvi } from "../../harness/bad-files/playlists.ts";
import { setLures } from "../../harness/bad-files/set-lures.ts";
import { specialFiles, truncatedMp4s, unexpected } from "../../harness/bad-files/special-files.ts";
import { canTrace, openedPaths, traceFfmpeg } from "../../harness/bad-files/traced-ffmpeg.ts";
import { corpusPath } from "../../harness/checkout.ts";
import { available, FFMPEG } from "../../harness/media.ts";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { MediaFolder } from "./media-folder.ts";

setDefaultTimeout(60_000);

const ready = available(FFMPEG, "tests of bad files");
const maxSeconds = 1800;
/** scripts/endurance hostile uses 2,000, and all variants of AVI files. */
const mutatedFiles = 40;
const everyNthAvi = 3;

const contentsOf = (files: readonly (readonly [string, Uint8Array])[]) =>
  files.map(([name, file]): [string, () => Uint8Array] => [name, () => file]);

describe.if(ready)("bad files end with a true result", () => {
  test("a file that is built to cost, mislead or confuse is refused, fails or decodes within its limits", async () => {
    using folder = new MediaFolder();
    const files = specialFiles(folder.path);
    const wrong: [string, End][] = [];
    const bytes = Object.entries(files).map(([name, file]): [string, () => Uint8Array] => [name, file.bytes]);
    await examineAll(bytes, folder.path, { ffmpegPath: FFMPEG, maxSeconds }, (name, end) => {
      if (unexpected(end, files[name]?.expected)) wrong.push([name, end]);
    });
    expect(wrong).toEqual([]);
  }, 120_000);

  test("a truncated video gives the audio that is present, never more", async () => {
    using folder = new MediaFolder();
    const files = Object.entries(await truncatedMp4s(folder.path));
    const ends = new Map<string, End>();
    await examineAll(contentsOf(files), folder.path, { ffmpegPath: FFMPEG, maxSeconds }, (name, end) =>
      ends.set(name, end),
    );
    expect(files.length).toBeGreaterThan(20);
    let longest = 0;
    for (const [name] of files) {
      const end = ends.get(name);
      expect([name, end?.kind]).toEqual([name, name.includes("before") ? expect.any(String) : "refused"]);
      if (end?.kind !== "decoded") continue;
      // A longer part never gives less.
      expect([name, end.seconds >= longest && end.seconds < 2.2]).toEqual([name, true]);
      longest = end.seconds;
    }
    expect(longest).toBeGreaterThan(1.7);
  }, 120_000);

  test.if(available(corpusPath("formats"), "the test of mutated files"))(
    `each of ${mutatedFiles} randomly damaged files is refused, fails or decodes within its limits`,
    async () => {
      using folder = new MediaFolder();
      const originals = corpusFiles();
      const random = randomNumbers(7);
      const files = Array.from({ length: mutatedFiles }, (_, index) => {
        const original = originals[index % originals.length] ?? Buffer.alloc(0);
        return [String(index), mutate(original, originals, random)] as const;
      });
      const kinds = { refused: 0, decoded: 0, failed: 0 };
      const wrong: [string, End][] = [];
      await examineAll(contentsOf(files), folder.path, { ffmpegPath: FFMPEG, maxSeconds }, (name, end) => {
        kinds[end.kind] += 1;
        if (end.kind === "failed" && end.fault !== "recording_too_long") wrong.push([name, end]);
      });
      expect(wrong).toEqual([]);
      expect(kinds.refused).toBeGreaterThan(5);
      expect(kinds.decoded).toBeGreaterThan(5);
      expect((await folder.names()).filter((name) => !/^upload-\d$/.test(name))).toEqual([]);
    },
    120_000,
  );
});

describe.if(ready && canTrace)("a file that names other files and addresses", () => {
  test("makes ffmpeg open no other file or address", async () => {
    using folder = new MediaFolder();
    using lures = await setLures(folder.path);
    await using traced = await traceFfmpeg(FFMPEG, folder.path);
    const bare = playlists(lures);
    const inAvi = Object.entries(playlistsInAvi(lures)).filter((_, index) => index % everyNthAvi === 0);
    const wrong: [string, End][] = [];
    const bytes = contentsOf([...Object.entries(bare), ...inAvi]);
    await examineAll(bytes, folder.path, { ffmpegPath: traced.path, maxSeconds }, (name, end) => {
      const isRight = name in bare ? end.kind === "refused" : end.kind === "decoded" && Math.round(end.seconds) === 1;
      if (!isRight) wrong.push([name, end]);
    });
    expect(wrong).toEqual([]);
    const calls = await traced.calls();
    const ours = openedPaths(calls).filter((path) => path.startsWith(folder.path));
    // The trace works: it shows the files themselves.
    expect(ours).toContain(folder.at("upload-0"));
    expect(ours.filter((path) => !/\/upload-\d(\.(second\.)?pcm.*)?$/.test(path))).toEqual([]);
    expect(calls.filter((call) => /connect\(|AF_INET|secret/.test(call))).toEqual([]);
    expect(lures.connections()).toBe(0);
    expect(await folder.names()).not.toContain("secret.wav.run");
  }, 120_000);
});
