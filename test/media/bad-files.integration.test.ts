import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { examineAll } from "../../harness/bad-files/examine.ts";
import { craftedFiles, cutFiles, damagedFiles, playlistFiles } from "../../harness/bad-files/groups.ts";
import { setLures } from "../../harness/bad-files/playlists.ts";
import { canTrace, openedPaths, traceFfmpeg } from "../../harness/bad-files/traced-ffmpeg.ts";
import { corpusPath } from "../../harness/checkout.ts";
import { available, FFMPEG } from "../../harness/media.ts";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { MediaFolder } from "./media-folder.ts";

setDefaultTimeout(60_000);

const ready = available(FFMPEG, "tests of bad files");
/** scripts/endurance hostile uses 2,000, and all variants of AVI files. */
const mutatedFiles = 40;
const everyNthAvi = 3;

describe.if(ready)("bad files end with a true result", () => {
  test("a file that is built to cost, mislead or confuse is refused, fails or decodes within its limits", async () => {
    using folder = new MediaFolder();
    expect((await examineAll(craftedFiles(folder.path), folder.path, FFMPEG)).wrong).toEqual([]);
  }, 120_000);

  test("a truncated video gives the audio that is present, never more", async () => {
    using folder = new MediaFolder();
    const files = await cutFiles(folder.path);
    const { ends } = await examineAll(files, folder.path, FFMPEG);
    expect(files.length).toBeGreaterThan(20);
    let longest = 0;
    for (const { name } of files) {
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
      const files = damagedFiles(mutatedFiles, randomNumbers(7));
      const ends = [...(await examineAll(files, folder.path, FFMPEG)).ends.values()];
      const faults = ends.flatMap((end) => (end.kind === "failed" ? [end.fault] : []));
      expect(faults.filter((fault) => fault !== "recording_too_long")).toEqual([]);
      expect(ends.filter(({ kind }) => kind === "refused").length).toBeGreaterThan(5);
      expect(ends.filter(({ kind }) => kind === "decoded").length).toBeGreaterThan(5);
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
    const files = playlistFiles(lures).filter(({ name }, index) => {
      return !name.startsWith("avi with ") || index % everyNthAvi === 0;
    });
    expect((await examineAll(files, folder.path, traced.path)).wrong).toEqual([]);
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
