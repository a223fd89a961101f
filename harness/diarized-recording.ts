import { blockCount } from "../src/blocks/index.ts";
import { programFiles } from "../src/program/index.ts";
import {
  cluster,
  type DiarizationModels,
  detectBlock,
  drySpeech,
  embedBlock,
  maxPauses,
  minSimilarity,
  packChunks,
  speakerVoices,
  speechRegions,
} from "../src/speech/diarization/index.ts";
import { openDiarizationModels } from "../src/speech/index.ts";
import { type PcmFile, SAMPLE_RATE, type WorkArea } from "../src/timeline/index.ts";
import { corpusPath } from "./checkout.ts";
import { runFfmpeg } from "./sample-recordings.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

/** The constants of the diarization that measurements vary. No two have the same name. */
export const diarizationConstants: readonly Record<string, number>[] = [minSimilarity, drySpeech, maxPauses];

export const audioDirectory = corpusPath("");

export async function openModels(threads = 2): Promise<DiarizationModels> {
  const { onnxBinding, segmentationModel, embeddingModel } = await programFiles("");
  return openDiarizationModels({ onnxBinding, threads, segmentationModel, embeddingModel });
}

/** Decodes a recording to `target` with the complete ffmpeg of the checkout, through filters of ffmpeg's. */
export async function decode(recording: string, target: string, filters = "anull"): Promise<PcmFile> {
  const form = ["-af", filters, "-ac", "1", "-ar", String(SAMPLE_RATE), "-f", "s16le"];
  await runFfmpeg(["-i", recording, ...form, target]);
  return { path: target, sampleCount: Math.floor(Bun.file(target).size / 2) };
}

/** Runs every step over a PCM file, in a directory of its own that is removed afterwards. @param bounds of the speakers */
export async function diarize(models: DiarizationModels, pcm: PcmFile, bounds?: Parameters<typeof cluster>[1]) {
  using directory = temporaryDirectory();
  const area = { directory: directory.path, pcm };
  const started = performance.now();
  await forEachBlock(area, (block) => detectBlock(models, area, block));
  const regions = await speechRegions(area);
  const detected = performance.now();
  await forEachBlock(area, (block) => embedBlock(models, area, block));
  const embedded = performance.now();
  const turns = await cluster(area, bounds);
  const milliseconds = {
    detect: detected - started,
    embed: embedded - detected,
    cluster: performance.now() - embedded,
  };
  const chunks = packChunks(regions, pcm.sampleCount / SAMPLE_RATE);
  return { regions, chunks, turns, voices: await speakerVoices(area, turns), milliseconds };
}

async function forEachBlock({ pcm }: WorkArea, run: (block: number) => Promise<void>): Promise<void> {
  for (let block = 0; block < blockCount(pcm.sampleCount); block++) await run(block);
}
