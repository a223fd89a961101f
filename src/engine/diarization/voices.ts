import { blockPath, readBlockFile, writeBlockFile } from "./block-file.ts";
import { EMBEDDING_SIZE } from "./models.ts";

const MARK = "TVO1";
/** window u32, local u8, slices u8, clean frames u16, then the embedding in f32. */
const META_BYTES = 8;
const VOICE_BYTES = META_BYTES + EMBEDDING_SIZE * Float32Array.BYTES_PER_ELEMENT;

/** The voice of one local speaker in one window. */
export interface Voice {
  /** Window of the recording, and local speaker in it. */
  window: number;
  local: number;
  /** Slices whose embeddings were averaged; 0 where clean speech was too short for one and had to be joined and repeated. */
  slices: number;
  /** Frames in which this speaker is heard alone; 0 where they are too few to found a speaker on. */
  cleanFrames: number;
  /** Mean of the slices' unit vectors, not normalised again. */
  embedding: Float32Array;
}

/** Writes the voices of a block atomically. */
export async function writeVoices(
  directory: string,
  block: number,
  firstWindow: number,
  voices: readonly Voice[],
): Promise<void> {
  const body = new Uint8Array(voices.length * VOICE_BYTES);
  const view = new DataView(body.buffer);
  voices.forEach((voice, index) => {
    const at = index * VOICE_BYTES;
    view.setUint32(at, voice.window, true);
    view.setUint8(at + 4, voice.local);
    view.setUint8(at + 5, voice.slices);
    view.setUint16(at + 6, voice.cleanFrames, true);
    new Float32Array(body.buffer, at + META_BYTES, EMBEDDING_SIZE).set(voice.embedding);
  });
  await writeBlockFile(blockPath(directory, block), MARK, { firstWindow, count: voices.length, body });
}

/** Reads the voices of a block, in order of windows. */
export async function readVoices(directory: string, block: number): Promise<Voice[]> {
  const { count, body } = await readBlockFile(blockPath(directory, block), MARK, VOICE_BYTES);
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  return Array.from({ length: count }, (_, index) => {
    const at = index * VOICE_BYTES;
    return {
      window: view.getUint32(at, true),
      local: view.getUint8(at + 4),
      slices: view.getUint8(at + 5),
      cleanFrames: view.getUint16(at + 6, true),
      embedding: new Float32Array(body.buffer, body.byteOffset + at + META_BYTES, EMBEDDING_SIZE),
    };
  });
}
