import { describe, expect, test } from "bun:test";
import { closeSync, openSync, readSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../../../harness/temporary-directory.ts";
import { checkoutFiles } from "../../../../src/program/layout.ts";
import { onnxLibraryOf } from "../../../../src/runtimes/index.ts";
import { OnnxGraph } from "../../../../src/speech/recognizer/whisper/encoder/onnx-graph.ts";
import { basePath, canTranscribe, openBase, readSamples, threads } from "../../../support/whisper.ts";

const jfk = "single/en-jfk.flac";
const mels = 80;
const width = 512;
/** Samples of a frame, and from one frame to the next (audio.py of OpenAI's whisper). */
const frameSamples = 400;
const hopSamples = 160;
const bins = frameSamples / 2 + 1;

/** An encoder that hands the spectrum on as it is: two frames to a position, and nothing in the rest of its width. */
function writeMirror(path: string): void {
  const graph = new OnnxGraph();
  const inOrder = graph.apply("Transpose", ["spectrum"], { perm: [0, 2, 1] });
  const shape = graph.constant([3], BigInt64Array.of(1n, -1n, BigInt(2 * mels)));
  const rest = graph.constant([6], BigInt64Array.of(0n, 0n, 0n, 0n, 0n, BigInt(width - 2 * mels)));
  graph.output(graph.apply("Pad", [graph.apply("Reshape", [inOrder, shape]), rest]), "encoding");
  const input = { name: "spectrum", shape: [1, mels, "frames"] };
  writeFileSync(path, graph.finish(input, { name: "encoding", shape: [1, "positions", width] }));
}

/** The mel filters of the base model's file, [mel][bin]. */
function readFilters(): Float32Array {
  const file = openSync(basePath, "r");
  try {
    const filters = new Float32Array(mels * bins);
    readSync(file, filters, 0, filters.byteLength, 56);
    return filters;
  } finally {
    closeSync(file);
  }
}

/** Whisper's spectrum before it is fitted to its loudest number, by its definition: the sums of a Fourier transform as they stand. */
function slowFrame(samples: Float32Array, frame: number, filters: Float32Array): number[] {
  const power = Array.from({ length: bins }, (_, bin) => {
    let [real, imaginary] = [0, 0];
    for (let n = 0; n < frameSamples; n++) {
      const at = frame * hopSamples + n - frameSamples / 2;
      const windowed = (samples[Math.abs(at)] ?? 0) * 0.5 * (1 - Math.cos((2 * Math.PI * n) / frameSamples));
      real += windowed * Math.cos((2 * Math.PI * bin * n) / frameSamples);
      imaginary -= windowed * Math.sin((2 * Math.PI * bin * n) / frameSamples);
    }
    return real ** 2 + imaginary ** 2;
  });
  return Array.from({ length: mels }, (_, mel) => {
    const sum = power.reduce((total, value, bin) => total + value * (filters[mel * bins + bin] ?? 0), 0);
    return Math.log10(Math.max(sum, 1e-10));
  });
}

describe.skipIf(!canTranscribe("computing a spectrum", jfk))("whisper's spectrum", () => {
  test("equals its definition at the start, in speech, at its end and after it", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "encoder.onnx");
    writeMirror(path);
    const samples = await readSamples(jfk);
    const state = openBase().createState({ library: onnxLibraryOf(checkoutFiles.onnxBinding), path, threads });
    const output = await state.encode(samples, threads);
    state.dispose();
    const numberAt = (frame: number, mel: number) =>
      output[Math.floor(frame / 2) * width + (frame % 2) * mels + mel] ?? Number.NaN;
    const loudest = output.reduce((most, value) => Math.max(most, value), -1) * 4 - 4;
    const filters = readFilters();
    for (const frame of [0, 1, 2, 399, 402, 407, 1098, 1099, 1100, 1103, 2999]) {
      for (const [mel, value] of slowFrame(samples, frame, filters).entries()) {
        const expected = (Math.max(value, loudest - 8) + 4) / 4;
        expect(Math.abs(numberAt(frame, mel) - expected)).toBeLessThan(5e-5);
      }
    }
  }, 60_000);
});
