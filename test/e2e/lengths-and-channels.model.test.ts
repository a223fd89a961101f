import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { available, mediaToolPath, recordingsFolder, samplePath } from "../../harness/checkout.ts";
import { spokenText } from "../../harness/client.ts";
import { lavfi, makeWithFfmpeg } from "../../harness/media.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { startServerForSuite } from "./suite-server.ts";

const jfk = samplePath("jfk.mp3");

describe.if(available("e2e tests of lengths and channels", jfk, mediaToolPath))("a recording", () => {
  const suite = startServerForSuite("lengths");
  const { server } = suite;

  test.each([
    ["of a stream whose clock began 30 h before", "late-clock-fragments.mp4", 6, "your country can do for you"],
    ["of unknown size, as SoX writes it to a pipe,", "sox-pipe.aiff", 4, "my fellow americans"],
    ["of six microphones with speech on the fourth", "six-microphones-fourth.flac", 6, "my fellow americans"],
  ])(
    "%s is transcribed, and is as long as its sound",
    async (_, name, seconds, words) => {
      await server.showingLog(async () => {
        const { ended, segments } = await suite.client.transcribe(join(recordingsFolder, "cases", name));
        expect(ended).toMatchObject({ status: "completed", language: "en", duration_seconds: seconds });
        expect(spokenText(segments)).toContain(words);
        expect(segments[0]?.start).toBeLessThan(1);
        expect(segments.at(-1)?.end).toBeLessThanOrEqual(seconds + 0.1);
      })();
    },
    120_000,
  );

  test(
    "with a silent first track is transcribed from the second one, and the command line names it",
    server.showingLog(async () => {
      using folder = temporaryDirectory();
      const path = join(folder.path, "tracks.mp4");
      makeWithFfmpeg(
        ...lavfi("anullsrc=r=16000:cl=mono:d=11"),
        "-i",
        jfk,
        "-map",
        "0",
        "-map",
        "1",
        "-c:a",
        "aac",
        path,
      );
      const { ended, segments } = await suite.client.transcribe(path);
      expect(ended).toMatchObject({ status: "completed", duration_seconds: 11 });
      expect(spokenText(segments)).toContain("ask not what your country can do for you");
      const shown = await server.cli("recordings", "show", ended.id, "--json");
      expect(JSON.parse(shown.stdout)).toMatchObject({ audio_track: 2, audio_tracks: 2 });
    }),
    120_000,
  );
});
