import { join } from "node:path";
import { mediaToolPath } from "../../harness/checkout.ts";
import { SAMPLE_RATE } from "../../src/timeline/index.ts";
import { readCorpus } from "../evaluate/corpus.ts";
import { runCommand } from "../shared/run-command.ts";
import type { RecognizerTask } from "./recognize-chunks.ts";

/** Languages of the recordings, in this order. All recognizers that are compared know them. */
const languages = ["en", "de"];
const wholeSeconds = 420;
const MAX_CHUNK_SAMPLES = 30 * SAMPLE_RATE;

/** Samples in chunks, and their length. */
export type SpeechChunks = Pick<RecognizerTask, "samples" | "chunks"> & { readonly seconds: number };

/**
 * Writes recordings of single speakers as samples, in chunks of at most 30 s like those of a recording: several short
 * recordings of one language, or an equal part of a long one.
 */
export async function makeSpeechChunks(audio: string, directory: string): Promise<SpeechChunks> {
  const corpus = (await readCorpus(audio)).filter(({ group }) => group === "single");
  const chunks: { language: string; first: number; end: number }[] = [];
  const parts: Float32Array[] = [];
  let length = 0;
  for (const recording of languages.flatMap((code) => corpus.filter(({ language }) => language === code))) {
    const samples = await readSamples(recording.file, join(directory, "recording.f32"));
    if (length + samples.length > wholeSeconds * SAMPLE_RATE) continue;
    parts.push(samples);
    const pieces = Math.ceil(samples.length / MAX_CHUNK_SAMPLES);
    for (let piece = 0; piece < pieces; piece++) {
      const [first, end] = [piece, piece + 1].map((at) => length + Math.round((samples.length * at) / pieces));
      addPiece(chunks, { language: recording.language, first: first as number, end: end as number });
    }
    length += samples.length;
  }
  const path = join(directory, "speech.f32");
  await Bun.write(path, new Blob(parts.map((part) => new Uint8Array(part.buffer as ArrayBuffer))));
  return { samples: path, chunks, seconds: length / SAMPLE_RATE };
}

function addPiece(chunks: RecognizerTask["chunks"], piece: RecognizerTask["chunks"][number]): void {
  const last = chunks.at(-1);
  const isSame = last?.language === piece.language;
  if (last !== undefined && isSame && piece.end - last.first <= MAX_CHUNK_SAMPLES) last.end = piece.end;
  else chunks.push(piece);
}

async function readSamples(recording: string, target: string): Promise<Float32Array> {
  const form = ["-f", "f32le", "-ac", "1", "-ar", String(SAMPLE_RATE)];
  await runCommand([mediaToolPath, "-nostdin", "-v", "error", "-y", "-i", recording, ...form, target]);
  return new Float32Array(await Bun.file(target).arrayBuffer());
}
