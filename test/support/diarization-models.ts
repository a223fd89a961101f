import { afterAll, beforeAll } from "bun:test";
import { join } from "node:path";
import { decode, openModels } from "../../harness/diarized-recording.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { blockCount } from "../../src/blocks/index.ts";
import { type DiarizationModels, detectBlock, speechRegions } from "../../src/speech/diarization/index.ts";
import type { PcmFile, Span } from "../../src/timeline/index.ts";

/** Opens the speaker models for the tests of a file, with a directory for the files of these tests. */
export function openedModels() {
  const directory = temporaryDirectory();
  let models: DiarizationModels | undefined;
  const opened = (): DiarizationModels => {
    if (models === undefined) throw new Error("the models are opened before the first test");
    return models;
  };
  beforeAll(async () => {
    models = await openModels();
  });
  afterAll(async () => {
    await models?.dispose();
    directory[Symbol.dispose]();
  });
  return {
    opened,
    decode: (recording: string, filters?: string, name = "pcm") =>
      decode(recording, join(directory.path, name), filters),
    /** Writes samples, one part after the other. */
    write: (...parts: readonly Float32Array[]) => writePcm(join(directory.path, "written.pcm"), ...parts),
    /** Returns the spans in which speech is detected. */
    async regionsOf(pcm: PcmFile): Promise<Span[]> {
      const area = { directory: directory.path, pcm };
      for (let block = 0; block < blockCount(pcm.sampleCount); block++) await detectBlock(opened(), area, block);
      return await speechRegions(area);
    },
  };
}

/** Writes samples to a PCM file, one part after the other. */
export async function writePcm(path: string, ...parts: readonly Float32Array[]): Promise<PcmFile> {
  const values = parts.flatMap((part) => Array.from(part, (sample) => Math.round(sample * 32_767)));
  await Bun.write(path, Int16Array.from(values));
  return { path, sampleCount: values.length };
}

/** Returns the samples from the first loud one to the last. */
export function loudPart(samples: Float32Array): Float32Array {
  const loudest = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  const isLoud = (sample: number) => Math.abs(sample) > 0.05 * loudest;
  return samples.slice(samples.findIndex(isLoud), samples.findLastIndex(isLoud) + 1);
}
