import { and, asc, count, eq, isNotNull, sql } from "drizzle-orm";
import { type Auditor, audit } from "../accounts/index.ts";
import { type Store, tables, transact, truncateLog, type Writer } from "../database/index.ts";
import { cleanText } from "../text/index.ts";
import { addExample, countExamples, meanOf, removeExamples } from "./examples.ts";
import { knowsVoices } from "./opt-in.ts";
import { proposalLimits, proposeVoices } from "./propose.ts";
import { embeddingModel, readSpeakerVoices, type SpeakerVoice } from "./speaker-voices.ts";
import { VoicesError } from "./voices-error.ts";

/** Maximum length of a voice's name, as of a speaker's. */
export const MAX_NAME_CHARACTERS = 100;

/** Returns whether a text without spaces around it can be the name of a voice. */
export function isVoiceName(name: string): boolean {
  return name !== "" && name.length <= MAX_NAME_CHARACTERS && !/\p{Cc}/u.test(name);
}
/** Maximum number of voices of an account. The rate of wrong proposals was measured with no more (docs/quality.md). */
export const MAX_VOICES = 100;

/** A voice that an account remembers. */
export interface Voice {
  readonly id: string;
  readonly name: string;
  readonly createdBy: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Number of recordings that it is compared by, and the seconds of clean speech in them. */
  readonly examples: number;
  readonly seconds: number;
  /** Whether the embedding model in use computed it; another voice is never proposed. */
  readonly isCurrent: boolean;
}

/** The state of the voice of a recording's speaker. */
export type SpeakerState =
  /** There is too little clean speech of the speaker, or the recording was processed before the account opted in. */
  | { readonly kind: "unclear" }
  /** The speaker may be remembered. */
  | { readonly kind: "new" }
  /** The speaker has no name and resembles a voice. */
  | { readonly kind: "proposed"; readonly id: string; readonly name: string }
  /** The speaker is an example of a voice. */
  | { readonly kind: "remembered"; readonly id: string; readonly name: string };

/** A recording whose voices are read. Speakers are given by their numbers in `segments.speaker`, which never change. */
export interface NamedRecording {
  readonly recording: { readonly id: string; readonly accountId: string };
  /** Returns all speakers of the transcript. */
  speakerNumbers(): readonly number[];
  namesByNumber(): ReadonlyMap<number, string>;
}

/** The voices that accounts remember. */
export class Voices {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Returns an account's voices by name; empty unless the account remembers voices. */
  list(accountId: string): Voice[] {
    const { voices, voiceExamples } = tables;
    if (!knowsVoices(this.#store, accountId)) return [];
    return this.#store
      .select({
        id: voices.id,
        name: voices.name,
        createdBy: voices.createdBy,
        createdAt: voices.createdAt,
        examples: count(voiceExamples.id),
        seconds: sql<number>`coalesce(sum(${voiceExamples.seconds}), 0)`,
        model: voices.model,
      })
      .from(voices)
      .leftJoin(voiceExamples, eq(voiceExamples.voiceId, voices.id))
      .where(eq(voices.accountId, accountId))
      .groupBy(voices.id)
      .orderBy(asc(voices.name))
      .all()
      .map(({ model, ...voice }) => ({ ...voice, isCurrent: model === embeddingModel }));
  }

  /** Returns the account of a voice. @throws {VoicesError} `not_found` */
  accountOf(id: string): string {
    return requireVoice(this.#store, id).accountId;
  }

  /**
   * Returns what is known about the voices of a recording's speakers, by speaker; null if its account does not remember
   * voices. Proposals are computed anew each time, so that a voice stored later is also proposed for earlier recordings,
   * and a deleted one is not.
   */
  statesOf(transcript: NamedRecording): Map<number, SpeakerState> | null {
    const { recording } = transcript;
    if (!knowsVoices(this.#store, recording.accountId)) return null;
    const own = readSpeakerVoices(this.#store, recording);
    const speakers = transcript.speakerNumbers();
    const names = transcript.namesByNumber();
    const known = this.#candidates(recording, new Set(names.values()));
    const unnamed = speakers.filter((speaker) => !names.has(speaker)).flatMap((speaker) => own.get(speaker) ?? []);
    const proposed = proposeVoices(unnamed, known);
    const nameOf = new Map(known.map(({ id, name }) => [id, name]));
    const examples = this.#examplesIn(recording.id);
    return new Map(
      speakers.map((speaker): [number, SpeakerState] => {
        const example = examples.get(speaker);
        if (example !== undefined) return [speaker, { kind: "remembered", ...example }];
        const id = proposed.get(speaker);
        if (id !== undefined) return [speaker, { kind: "proposed", id, name: nameOf.get(id) ?? "" }];
        return [speaker, { kind: isClear(own.get(speaker)) ? "new" : "unclear" }];
      }),
    );
  }

  /**
   * Remembers the voice of a named speaker: as a new voice, or as a further example of the voice of this name.
   * @throws {VoicesError} `disabled`, `no_name`, `unclear`, `different_voice`, `too_many`
   */
  remember(transcript: NamedRecording, speaker: number, by: Auditor): void {
    const { recording } = transcript;
    const name = transcript.namesByNumber().get(speaker);
    transact(this.#store, (writer) => {
      const clear = this.#requireClear(writer, recording, speaker);
      if (name === undefined) throw new VoicesError("no_name");
      for (const [other, voice] of this.#examplesIn(recording.id)) {
        if (other === speaker && voice.name !== name) removeExamples(writer, recording.id, speaker);
      }
      const id = voiceNamed(writer, recording.accountId, name, by);
      addExample(writer, id, recording.id, clear);
      audit(writer, by, "voices.remember", id, { account: recording.accountId, recording: recording.id });
    });
    this.#forgetRemoved();
  }

  /**
   * Stores that a user confirmed a proposal, which makes the speaker a further example of the voice.
   * @param rename gives the speaker the voice's name
   * @throws {VoicesError} `no_proposal` if the voice is not proposed for the speaker (any more)
   */
  confirm(
    transcript: NamedRecording,
    speaker: number,
    voiceId: string,
    by: Auditor,
    rename: (name: string) => void,
  ): void {
    const { recording } = transcript;
    transact(this.#store, (writer) => {
      const { name } = this.#requireProposal(transcript, speaker, voiceId);
      addExample(writer, voiceId, recording.id, this.#requireClear(writer, recording, speaker));
      audit(writer, by, "voices.confirm", voiceId, { account: recording.accountId, recording: recording.id });
      rename(name);
    });
    this.#forgetRemoved();
  }

  /**
   * Stores that a user rejected a proposal: the voice is not proposed for this recording again.
   * @throws {VoicesError} `no_proposal`
   */
  reject(transcript: NamedRecording, speaker: number, voiceId: string, by: Auditor): void {
    const { recording } = transcript;
    transact(this.#store, (writer) => {
      this.#requireProposal(transcript, speaker, voiceId);
      writer.insert(tables.rejectedVoices).values({ recordingId: recording.id, voiceId }).run();
      audit(writer, by, "voices.reject", voiceId, { account: recording.accountId, recording: recording.id });
    });
  }

  /**
   * Removes speakers who have just lost the name of their voice from its examples: a wrong confirmation would make the
   * voice resemble somebody else. The last example of a voice stays, since a name may also be corrected.
   * @param before the names until now
   */
  renamed(transcript: NamedRecording, before: ReadonlyMap<number, string>): void {
    const { recording } = transcript;
    const names = transcript.namesByNumber();
    const removed = transact(this.#store, (writer) => {
      let count = 0;
      for (const [speaker, { id, name }] of this.#examplesIn(recording.id)) {
        const isSame = names.get(speaker) === before.get(speaker) || names.get(speaker) === name;
        if (isSame || countExamples(writer, id) <= 1) continue;
        removeExamples(writer, recording.id, speaker);
        count += 1;
      }
      return count;
    });
    if (removed > 0) this.#forgetRemoved();
  }

  /**
   * Renames a voice. The names of speakers in recordings stay.
   * @throws {VoicesError} `not_found`, `bad_name`, `name_taken`
   */
  rename(id: string, newName: string, by: Auditor): void {
    const { voices } = tables;
    const name = cleanText(newName);
    if (!isVoiceName(name) || /\p{Cc}/u.test(newName.trim())) throw new VoicesError("bad_name");
    transact(this.#store, (writer) => {
      const { accountId } = requireVoice(writer, id);
      const taken = findVoice(writer, accountId, name);
      if (taken !== undefined && taken.id !== id) throw new VoicesError("name_taken");
      writer.update(voices).set({ name }).where(eq(voices.id, id)).run();
      audit(writer, by, "voices.rename", id, { account: accountId });
    });
  }

  /**
   * Deletes a voice with its examples. After that, the database's files contain nothing of them. The names of speakers
   * in recordings stay.
   * @throws {VoicesError} `not_found`
   */
  async delete(id: string, by: Auditor): Promise<void> {
    const { voices } = tables;
    transact(this.#store, (writer) => {
      const { accountId } = requireVoice(writer, id);
      writer.delete(voices).where(eq(voices.id, id)).run();
      audit(writer, by, "voices.delete", id, { account: accountId });
    });
    await truncateLog(this.#store);
  }

  /** Removes examples that were replaced from the write-ahead log, at once unless another connection reads the log. */
  #forgetRemoved(): void {
    // The hourly task of the server repeats it.
    truncateLog(this.#store).catch(() => {});
  }

  /** Returns the voices that a recording is compared with. @param used names of its speakers, which no other one gets */
  #candidates({ id, accountId }: NamedRecording["recording"], used: ReadonlySet<string>) {
    const { voices, voiceExamples, rejectedVoices } = tables;
    const isCurrent = and(eq(voices.accountId, accountId), eq(voices.model, embeddingModel));
    const rows = this.#store
      .select({ id: voices.id, name: voices.name, seconds: voiceExamples.seconds, embedding: voiceExamples.embedding })
      .from(voiceExamples)
      .innerJoin(voices, eq(voices.id, voiceExamples.voiceId))
      .where(isCurrent)
      .all();
    const rejected = this.#store
      .select({ id: rejectedVoices.voiceId })
      .from(rejectedVoices)
      .where(eq(rejectedVoices.recordingId, id))
      .all();
    const isRejected = new Set(rejected.map((each) => each.id));
    return [...Map.groupBy(rows, (row) => row.id)].map(([voice, examples]) => {
      const name = examples[0]?.name ?? "";
      return { id: voice, name, isExcluded: isRejected.has(voice) || used.has(name), embedding: meanOf(examples) };
    });
  }

  /** Returns the voices of which a recording's speakers are examples, by speaker. */
  #examplesIn(recordingId: string): Map<number, { readonly id: string; readonly name: string }> {
    const { voices, voiceExamples } = tables;
    const rows = this.#store
      .select({ speaker: voiceExamples.speaker, id: voices.id, name: voices.name })
      .from(voiceExamples)
      .innerJoin(voices, eq(voices.id, voiceExamples.voiceId))
      .where(and(isNotNull(voiceExamples.recordingId), eq(voiceExamples.recordingId, recordingId)))
      .all();
    return new Map(rows.map(({ speaker, id, name }) => [speaker, { id, name }]));
  }

  #requireClear(writer: Writer, recording: NamedRecording["recording"], speaker: number): SpeakerVoice {
    if (!knowsVoices(this.#store, recording.accountId)) throw new VoicesError("disabled");
    const voice = readSpeakerVoices(writer, recording).get(speaker);
    if (voice === undefined || !isClear(voice)) throw new VoicesError("unclear");
    return voice;
  }

  #requireProposal(transcript: NamedRecording, speaker: number, voiceId: string) {
    const state = this.statesOf(transcript)?.get(speaker);
    if (state?.kind === "proposed" && state.id === voiceId) return state;
    throw new VoicesError("no_proposal");
  }
}

function isClear(voice: SpeakerVoice | undefined): boolean {
  return voice !== undefined && voice.seconds >= proposalLimits.minSeconds;
}

function requireVoice(reader: Pick<Writer, "select">, id: string): typeof tables.voices.$inferSelect {
  const { voices } = tables;
  const found = reader.select().from(voices).where(eq(voices.id, id)).get();
  if (found === undefined) throw new VoicesError("not_found");
  return found;
}

function findVoice(reader: Pick<Writer, "select">, accountId: string, name: string) {
  const { voices } = tables;
  const isIt = and(eq(voices.accountId, accountId), eq(voices.name, name));
  return reader.select().from(voices).where(isIt).get();
}

/**
 * Returns the id of an account's voice of a name, which is created unless it exists. A voice of another embedding model is
 * emptied, because its examples are useless.
 */
function voiceNamed(writer: Writer, accountId: string, name: string, by: Auditor): string {
  const { voices, voiceExamples } = tables;
  const found = findVoice(writer, accountId, name);
  if (found === undefined) {
    const number = writer.select({ number: count() }).from(voices).where(eq(voices.accountId, accountId)).get()?.number;
    if ((number ?? 0) >= MAX_VOICES) throw new VoicesError("too_many");
    const id = Bun.randomUUIDv7();
    const made = { id, accountId, name, model: embeddingModel, createdBy: by.actor, createdAt: by.now };
    writer.insert(voices).values(made).run();
    return id;
  }
  if (found.model !== embeddingModel) {
    writer.delete(voiceExamples).where(eq(voiceExamples.voiceId, found.id)).run();
    writer.update(voices).set({ model: embeddingModel }).where(eq(voices.id, found.id)).run();
  }
  return found.id;
}
