import { describe, test } from "bun:test";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { audioDirectory } from "../../../harness/diarized-recording.ts";
import { dialogues, expectDialogues, expectMeetings, expectOneSpeakerEach, startDiarization } from "./corpus.ts";

const hasAudio = existsSync(audioDirectory);
if (!hasAudio) console.warn("SKIPPED: diarization of the audio corpus, which is not here");

describe.skipIf(!hasAudio)("the whole audio corpus", () => {
  const diarizeFile = startDiarization();

  test("recordings of one speaker have one speaker, whose speech is found", async () => {
    await expectOneSpeakerEach(diarizeFile, (await readdir(join(audioDirectory, "single"))).sort());
  }, 600_000);

  test("built dialogues have the right speaker counts, at most 7.5 % of errors, and less than 0.8 % of confused speech", async () => {
    await expectDialogues(diarizeFile, Object.keys(dialogues));
  }, 600_000);

  test("meetings have at most 30 % of errors, 22 % against the words, and less than 4.5 % of confused speech", async () => {
    const names = await readdir(join(audioDirectory, "dialogue"));
    await expectMeetings(
      diarizeFile,
      names.filter((name) => /^ami-.*\.flac$/.test(name)),
      { errorRate: 0.3, confusion: 0.045, againstWords: 0.22 },
    );
  }, 600_000);
});
