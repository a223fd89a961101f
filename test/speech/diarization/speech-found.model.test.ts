import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { audioDirectory } from "../../../harness/diarized-recording.ts";
import { openedModels } from "../../support/diarization-models.ts";

// Inference on a machine that is busy with other tests.
setDefaultTimeout(60_000);

const { decode, regionsOf } = openedModels();

/** Filters speech like a telephone line that hisses. */
const telephone =
  "highpass=f=300:p=2,highpass=f=300,lowpass=f=3400,lowpass=f=3400,aeval=0.5*val(0)+0.006*(random(0)-random(1))";

const quiet = "volume=-40dB";

const spoken: { clip: string; how: string; filter: string; atLeastSeconds: number }[] = [
  { clip: "en-cv-22058267.mp3", how: "one word", filter: "anull", atLeastSeconds: 0.3 },
  { clip: "en-lj-LJ002-0020.flac", how: "two words", filter: "anull", atLeastSeconds: 0.8 },
  { clip: "en-cv-22058264.mp3", how: "one word on the telephone", filter: telephone, atLeastSeconds: 0.2 },
  { clip: "fr-fleurs-005.ogg", how: "a sentence on the telephone", filter: telephone, atLeastSeconds: 4 },
  { clip: "ja-fleurs-1837.flac", how: "a sentence on the telephone", filter: telephone, atLeastSeconds: 8 },
  { clip: "de-fleurs-005.ogg", how: "a sentence, 40 dB quieter", filter: quiet, atLeastSeconds: 5 },
  { clip: "en-libri-3331-159605-0004.flac", how: "an exclamation, 40 dB quieter", filter: quiet, atLeastSeconds: 1.2 },
];

describe.skipIf(!existsSync(join(audioDirectory, "single")))("speech is found", () => {
  test.each(spoken)("in $clip: $how", async ({ clip, filter, atLeastSeconds }) => {
    const regions = await regionsOf(await decode(join(audioDirectory, "single", clip), filter));
    const spokenSeconds = regions.reduce((sum, { startSeconds, endSeconds }) => sum + endSeconds - startSeconds, 0);
    expect(spokenSeconds).toBeGreaterThan(atLeastSeconds);
  });
});
