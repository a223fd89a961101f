import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { corpusPath } from "../../harness/checkout.ts";
import { casesOf, compareCase, decodeWithOther, formats, likeness, makeCase } from "../../harness/format-matrix.ts";
import { available, lavfi, MEDIA_TOOL, samplesOf } from "../../harness/media.ts";
import { PCM_SAMPLE_RATE_HZ } from "../../src/media/index.ts";
import { canDecode, MediaFolder } from "./media-folder.ts";

setDefaultTimeout(60_000);

const hasTools = canDecode("tests of formats");
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
    using folder = new MediaFolder();
    const source = folder.make("voice.flac", "-i", voice, "-t", "4");
    const originalPath = folder.at("original.pcm");
    await decodeWithOther(MEDIA_TOOL, source, originalPath);
    const original = await samplesOf(originalPath);
    const different: string[] = [];
    for (const one of fewCases()) {
      const path = folder.at(`made.${one.extension}`);
      const { encoder, extension } = one;
      expect([encoder, extension, await makeCase(one, source, path)]).toEqual([encoder, extension, true]);
      const what = await compareCase(one, path, original, folder.path);
      if (what !== null) different.push(`${encoder} in ${extension}: ${what}`);
    }
    expect(different).toEqual([]);
  },
);

test.if(hasTools).each([8000, 16_000, 32_000])(
  "Speex of %d Hz is as long as it was, and sounds like it",
  async (rate) => {
    // Debian's ffmpeg made these files with libspeex from this formula.
    const formula = lavfi("aevalsrc='0.4*sin(2*PI*(200+300*t)*t)*(0.6+0.4*sin(8*PI*t))':d=2:s=16000");
    using folder = new MediaFolder();
    const original = await samplesOf(folder.make("original.pcm", ...formula, "-f", "s16le"));
    const { samples: decoded } = await folder.decode(join(import.meta.dir, `speex/${rate}.spx`));
    expect(decoded.length / PCM_SAMPLE_RATE_HZ).toBeCloseTo(2, 1);
    expect(likeness(decoded, original)).toBeGreaterThan(0.8);
  },
);
