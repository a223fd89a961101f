import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { corpusPath } from "../../harness/checkout.ts";
import { casesOf, compareCase, decodeWithOther, formats, likeness, makeCase } from "../../harness/format-matrix.ts";
import { available, FFMPEG, inFolder, lavfi, MEDIA_TOOL, makeWithFfmpeg, samplesOf } from "../../harness/media.ts";
import { decodeRecording, PCM_SAMPLE_RATE_HZ } from "../../src/media/index.ts";

setDefaultTimeout(60_000);

const hasTools = [FFMPEG, MEDIA_TOOL].every((path) => available(path, "tests of formats"));
const voice = corpusPath("formats/jfk.flac");
const ready = hasTools && available(voice, "tests of formats");

/** One file of each codec, and of each container; `scripts/evaluate formats` has all rates and channels. */
function fewCases() {
  const seen = new Set<string>();
  return formats
    .filter(({ isOfDebian }) => isOfDebian !== true)
    .flatMap(casesOf)
    .filter(({ encoder, extension }) => {
      const isNew = !seen.has(encoder) || !seen.has(extension);
      seen.add(encoder).add(extension);
      return isNew;
    });
}

test.if(ready)(
  "a voice in every codec and container sounds as another ffmpeg decodes it, and as the original",
  async () => {
    await inFolder(async (folder) => {
      const [source, originalPath] = [join(folder, "voice.flac"), join(folder, "original.pcm")];
      makeWithFfmpeg("-i", voice, "-t", "4", source);
      await decodeWithOther(MEDIA_TOOL, source, originalPath);
      const original = await samplesOf(originalPath);
      const different: string[] = [];
      for (const one of fewCases()) {
        const path = join(folder, `made.${one.extension}`);
        expect([one.encoder, one.extension, await makeCase(one, source, path)]).toEqual([
          one.encoder,
          one.extension,
          true,
        ]);
        const what = await compareCase(one, path, original, folder);
        if (what !== null) different.push(`${one.encoder} in ${one.extension}: ${what}`);
      }
      expect(different).toEqual([]);
    });
  },
);

test.if(hasTools).each([8000, 16_000, 32_000])(
  "Speex of %d Hz is as long as it was, and sounds like it",
  async (rate) => {
    // Debian's ffmpeg made these files with libspeex from this formula.
    const formula = lavfi("aevalsrc='0.4*sin(2*PI*(200+300*t)*t)*(0.6+0.4*sin(8*PI*t))':d=2:s=16000");
    await inFolder(async (folder) => {
      const [outputPath, originalPath] = [join(folder, "decoded.pcm"), join(folder, "original.pcm")];
      makeWithFfmpeg(...formula, "-f", "s16le", originalPath);
      const inputPath = join(import.meta.dir, `speex/${rate}.spx`);
      await decodeRecording({ ffmpegPath: FFMPEG, inputPath, outputPath, maxSeconds: 60 });
      const decoded = await samplesOf(outputPath);
      expect(decoded.length / PCM_SAMPLE_RATE_HZ).toBeCloseTo(2, 1);
      expect(likeness(decoded, await samplesOf(originalPath))).toBeGreaterThan(0.8);
    });
  },
);
