import { describe, test } from "bun:test";
import { join } from "node:path";
import { available, samplePath } from "../../harness/checkout.ts";
import { MEDIA_TOOL, makeWithFfmpeg } from "../../harness/media.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { dialogues, expectBothSpeakers, readSample, readTurns } from "./dialogues.ts";
import { startServerForSuite } from "./suite-server.ts";

const sample = samplePath("sample.wav");
const ready = available("e2e tests of two speakers", sample);
const readyDialogues = available("e2e tests of dialogues", MEDIA_TOOL, ...dialogues.map(({ path }) => path));

describe.if(ready)("a transcript of two speakers", () => {
  const suite = startServerForSuite("dialogues");
  const { server } = suite;

  test(
    "of a telephone call of two women has the right speaker for every turn and at most 15 % wrong words",
    server.showingLog(async () => expectBothSpeakers(suite.client, sample, await readSample())),
    180_000,
  );

  // dialogues.full.test.ts transcribes them to their end.
  for (const { name, path, excerpt } of dialogues) {
    test.if(readyDialogues)(
      `of three turns of ${name} has the right speaker for every turn and at most 15 % wrong words`,
      server.showingLog(async () => {
        using directory = temporaryDirectory();
        const [start, end] = excerpt;
        const cut = join(directory.path, "excerpt.wav");
        makeWithFfmpeg("-ss", String(start), "-to", String(end), "-i", path, cut);
        await expectBothSpeakers(suite.client, cut, await readTurns(name, excerpt));
      }),
      180_000,
    );
  }
});
