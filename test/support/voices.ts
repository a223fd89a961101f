import { newRecording } from "../../harness/new-recording.ts";
import { normalNumbers } from "../../harness/random-numbers.ts";
import { createAccount } from "../../src/accounts/index.ts";
import { openDatabase, type Store } from "../../src/database/index.ts";
import { newRecordingId, Recordings } from "../../src/recordings/index.ts";
import type { Segment } from "../../src/segments/index.ts";
import { Transcript } from "../../src/transcripts/index.ts";
import { type SpeakerVoice, storeSpeakerVoices, switchVoices, Voices } from "../../src/voices/index.ts";

export const by = { actor: "operator", now: 1000 };

/** Length of the embeddings of the model in use. */
const SIZE = 192;

/** Returns an embedding of a person: those of one number resemble each other, with a similarity of about 0.8. */
export function voiceOf(person: number, occasion = 0): Float32Array {
  const [own, other] = [person, 1000 * person + occasion + 1].map((seed) => unit(normalNumbers(seed)(SIZE, 1)));
  return unit(Float32Array.from({ length: SIZE }, (_, at) => (own?.[at] ?? 0) + 0.5 * (other?.[at] ?? 0)));
}

/** Returns a mixture of the voices of two people. @param share of the first */
export function between(one: number, other: number, share: number): Float32Array {
  const [a, b] = [voiceOf(one), voiceOf(other)];
  return unit(a.map((value, at) => share * value + (1 - share) * (b[at] ?? 0)));
}

function unit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

/** An account that remembers voices, with completed recordings. */
export class VoiceAccount {
  readonly store: Store;
  readonly recordings: Recordings;
  readonly voices: Voices;
  readonly id: string;

  private constructor(store: Store, id: string) {
    this.store = store;
    this.recordings = new Recordings(store, () => by.now);
    this.voices = new Voices(store);
    this.id = id;
  }

  static async create({ store = openDatabase(":memory:"), name = "acme", isOn = true } = {}): Promise<VoiceAccount> {
    const account = createAccount(store, name, by);
    if (isOn) await switchVoices(store, account, by, true);
    return new VoiceAccount(store, account.id);
  }

  /** Completes a recording with one segment for each speaker. @param embeddings by speaker */
  record(embeddings: readonly Float32Array[], seconds = 20): Transcript {
    const { id } = this.recordings.create(newRecording(newRecordingId(Date.now()), this.id));
    this.recordings.claim(id);
    const segments = embeddings.map((_, index): Segment => {
      return { index, startSeconds: index, endSeconds: index + 1, speaker: index, text: "Hello.", words: [] };
    });
    const found = embeddings.map((embedding, speaker): SpeakerVoice => ({ speaker, seconds, embedding }));
    this.recordings.complete(id, segments, (writer) => storeSpeakerVoices(writer, id, found));
    const recording = this.recordings.get(id);
    if (recording === null) throw new Error("the recording was not stored");
    return new Transcript(this.store, recording);
  }

  /** Names a speaker and remembers the voice. */
  remember(transcript: Transcript, speaker: number, name: string): void {
    transcript.rename(new Map([[speaker, name]]));
    this.voices.remember(transcript, speaker, by);
  }

  /** Returns what is known about the voice of each speaker, in a few words. */
  states(transcript: Transcript): string[] | null {
    const states = this.voices.statesOf(transcript);
    return states === null
      ? null
      : [...states.values()].map((state) => ("name" in state ? `${state.kind} ${state.name}` : state.kind));
  }

  /** Returns how many rows a table has. */
  rows(table: string): number {
    return this.store.$client.query<{ rows: number }, []>(`SELECT count(*) AS rows FROM ${table}`).get()?.rows ?? 0;
  }
}
