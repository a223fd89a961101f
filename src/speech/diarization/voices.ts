import { readBlock, writeBlock } from "../../blocks/index.ts";
import type { WorkArea } from "../../timeline/index.ts";
import { addScaled, unit } from "./similarity.ts";

const MARK = "TVO2";
/** Metadata size of a record: window u32, local u8, padding, clean frames u16, start and end frame u32; then f32s. */
const META_BYTES = 16;

/** Frames `[start, end)` of the recording. */
export interface FrameSpan {
  start: number;
  end: number;
}

/** A fragment of a voice with an embedding of its own. `start` equals `end` if short fragments were joined. */
export interface VoiceFragment extends FrameSpan {
  /** Of unit length. */
  embedding: Float32Array;
}

/** The voice of one local speaker in one window. */
export interface Voice {
  /** Window of the recording, and the local speaker in that window. */
  window: number;
  local: number;
  /** Number of frames in which only this speaker is active; 0 if they are too few to use. */
  cleanFrames: number;
  /** At least one fragment, in order. */
  fragments: VoiceFragment[];
}

/** Returns the embedding of a whole voice: the mean of its fragments weighted by length, at unit length. */
export function wholeVoice({ fragments }: Voice): Float32Array {
  const sum = new Float32Array(fragments[0]?.embedding.length ?? 0);
  for (const { start, end, embedding } of fragments) addScaled(sum, embedding, Math.max(1, end - start));
  return unit(sum);
}

/** Writes the voices of a block atomically, one record for each fragment. */
export async function writeVoices(
  area: WorkArea,
  block: number,
  firstWindow: number,
  voices: readonly Voice[],
): Promise<void> {
  const size = voices[0]?.fragments[0]?.embedding.length ?? 0;
  const recordBytes = META_BYTES + size * Float32Array.BYTES_PER_ELEMENT;
  const records = voices.flatMap((voice) => voice.fragments.map((fragment) => ({ voice, fragment })));
  const body = new Uint8Array(records.length * recordBytes);
  const view = new DataView(body.buffer);
  records.forEach(({ voice, fragment }, index) => {
    const at = index * recordBytes;
    view.setUint32(at, voice.window, true);
    view.setUint8(at + 4, voice.local);
    view.setUint16(at + 6, voice.cleanFrames, true);
    view.setUint32(at + 8, fragment.start, true);
    view.setUint32(at + 12, fragment.end, true);
    new Float32Array(body.buffer, at + META_BYTES, size).set(fragment.embedding);
  });
  await writeBlock(area, "embeddings", block, MARK, { firstWindow, count: records.length, recordBytes, body });
}

/** Reads the voices of a block, ordered by window. */
export async function readVoices(area: WorkArea, block: number): Promise<Voice[]> {
  const { count, recordBytes, body } = await readBlock(area, "embeddings", block, MARK);
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const size = (recordBytes - META_BYTES) / Float32Array.BYTES_PER_ELEMENT;
  const voices: Voice[] = [];
  for (let index = 0; index < count; index++) {
    const at = index * recordBytes;
    const window = view.getUint32(at, true);
    const local = view.getUint8(at + 4);
    const fragment = {
      start: view.getUint32(at + 8, true),
      end: view.getUint32(at + 12, true),
      embedding: new Float32Array(body.buffer, body.byteOffset + at + META_BYTES, size),
    };
    const last = voices.at(-1);
    if (last?.window === window && last.local === local) last.fragments.push(fragment);
    else voices.push({ window, local, cleanFrames: view.getUint16(at + 6, true), fragments: [fragment] });
  }
  return voices;
}
