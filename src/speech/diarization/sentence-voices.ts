import { readBlock, writeBlock } from "../../blocks/index.ts";
import type { WorkArea } from "../../timeline/index.ts";
import { removeChannel } from "./remove-channel.ts";
import { addScaled, dot, minSimilarity, unit } from "./similarity.ts";

const MARK = "TSV1";

/** A sentence with a voice of its own, and the speaker assigned to it. */
export interface SpokenSentence {
  readonly speaker: number;
  /** Embedded length of the sentence. */
  readonly seconds: number;
}

/** Writes the embeddings of consecutive sentences, without their channel component, as one block, atomically. */
export async function writeSentenceVoices(
  area: WorkArea,
  block: number,
  voices: readonly Float32Array[],
): Promise<void> {
  const size = voices[0]?.length ?? 0;
  const body = new Float32Array(voices.length * size);
  for (const [index, voice] of voices.entries()) body.set(removeChannel(voice), index * size);
  const recordBytes = size * Float32Array.BYTES_PER_ELEMENT;
  const file = { firstWindow: 0, count: voices.length, recordBytes, body: new Uint8Array(body.buffer) };
  await writeBlock(area, "sentences", block, MARK, file);
}

/**
 * Returns the speaker of each sentence by its voice: the assigned speaker, or another one if the voice clearly matches
 * that one. Reads the blocks twice, one at a time, so that memory does not grow with their number. With CAM++, words
 * with a wrong speaker fell from 0.6 to 0.4 % on the built dialogues, and from 9.8 to 9.1 % on those of short
 * fragments.
 * @param sentences all sentences whose voices are in the blocks of the work area, in order
 */
export async function speakersByVoice(area: WorkArea, sentences: readonly SpokenSentence[]): Promise<number[]> {
  const known = new Map<number, Float32Array>();
  for await (const [{ speaker, seconds }, voice] of withVoices(area, sentences)) {
    const sum = known.get(speaker) ?? new Float32Array(voice.length);
    addScaled(sum, voice, seconds);
    known.set(speaker, sum);
  }
  const means = new Map([...known].map(([speaker, sum]) => [speaker, unit(sum)]));
  const speakers: number[] = [];
  for await (const [{ speaker, seconds }, voice] of withVoices(area, sentences)) {
    const rest = known.get(speaker)?.slice() ?? new Float32Array(voice.length);
    addScaled(rest, voice, -seconds);
    speakers.push(clearSpeaker(speaker, voice, rest, means));
  }
  return speakers;
}

/** @param rest sum of the speaker's other sentences @param means means of all speakers, of unit length */
function clearSpeaker(
  speaker: number,
  voice: Float32Array,
  rest: Float32Array,
  means: ReadonlyMap<number, Float32Array>,
): number {
  // A speaker without another sentence has no voice to compare with, and may well be a real speaker.
  if (Math.sqrt(dot(rest, rest)) < 1e-3) return speaker;
  let most = Math.max(minSimilarity.ofSentences, dot(voice, unit(rest)) + minSimilarity.ofStrangers);
  let clearest = speaker;
  for (const [another, theirs] of means) {
    if (another === speaker) continue;
    const similar = dot(voice, theirs);
    if (similar < most) continue;
    most = similar;
    clearest = another;
  }
  return clearest;
}

async function* withVoices(
  area: WorkArea,
  sentences: readonly SpokenSentence[],
): AsyncGenerator<[SpokenSentence, Float32Array]> {
  let at = 0;
  for (let block = 0; at < sentences.length; block++) {
    const { count, recordBytes, body } = await readBlock(area, "sentences", block, MARK);
    for (let record = 0; record < count; record++, at++) {
      const sentence = sentences[at];
      if (sentence === undefined) throw new Error(`the voices in ${area.directory} are more than the sentences`);
      const size = recordBytes / Float32Array.BYTES_PER_ELEMENT;
      yield [sentence, new Float32Array(body.buffer, body.byteOffset + record * recordBytes, size)];
    }
  }
}
