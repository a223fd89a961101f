import type { Operations } from "./operations.ts";
import { allOf } from "./pages.ts";
import { randomId } from "./recording-file.ts";
import type { CallOptions, Transport } from "./transport.ts";
import type {
  Difference,
  FoundTranscription,
  ListedTranscription,
  ListTranscriptionsParameters,
  ProcessAgain,
  Processing,
  Revision,
  SearchTranscriptionsParameters,
  Segment,
  SegmentCorrection,
  Speakers,
  Transcription,
  TranscriptionPage,
} from "./types.ts";

const MAX_PAGE_SIZE = 100;
const MAX_SEGMENT_PAGE_SIZE = 1000;

/**
 * Changes of recordings and transcripts, beyond version 1 of the API. The key needs the scope `transcriptions:edit`. All
 * attempts of a change have the same Idempotency-Key, so that it is made once.
 */
export class Editing {
  readonly #operations: Operations;
  readonly #transport: Transport;

  constructor(operations: Operations, transport: Transport) {
    this.#operations = operations;
    this.#transport = transport;
  }

  /** Cancels a queued or processing recording, which is then `failed`; or the processing again of a completed one. */
  async cancel(id: string, call: CallOptions = {}): Promise<Transcription> {
    return this.#operations.cancelTranscription(id, { idempotency_key: await randomId() }, call);
  }

  /** Returns the speakers of a transcript with their names, and the latest revision. */
  speakers(id: string, call: CallOptions = {}): Promise<Speakers> {
    return this.#operations.listSpeakers(id, {}, call);
  }

  /** Names speakers, by their letters; null removes a name. */
  nameSpeakers(id: string, names: Record<string, string | null>, call: CallOptions = {}): Promise<Speakers> {
    return this.#operations.nameSpeakers(id, { names }, {}, call);
  }

  /**
   * Assigns all segments of a speaker to another one.
   * @param revision the latest revision that the program has read
   * @returns the latest revision
   * @throws {ApiError} `precondition_failed` with what others have changed since
   */
  async mergeSpeakers(
    id: string,
    revision: number,
    speakers: { readonly speaker: string; readonly into: string },
    call: CallOptions = {},
  ): Promise<number> {
    return (await this.#operations.mergeSpeakers(id, speakers, await changeOf(revision), call)).revision;
  }

  /**
   * Corrects up to 100 segments as one revision.
   * @param revision the latest revision, of which the segments were read
   * @returns the latest revision
   * @throws {ApiError} `precondition_failed` with what others have changed since
   */
  async correct(
    id: string,
    revision: number,
    corrections: readonly SegmentCorrection[],
    call: CallOptions = {},
  ): Promise<number> {
    const body = { corrections: [...corrections] };
    return (await this.#operations.correctSegments(id, body, await changeOf(revision), call)).revision;
  }

  /** Returns the number of the latest revision of a transcript; 0 if nobody has corrected it. */
  async latestRevision(id: string, call: CallOptions = {}): Promise<number> {
    return (await this.#operations.listRevisions(id, { limit: 1 }, call)).revision;
  }

  /** Returns the revisions of a transcript, newest first, page by page. */
  revisions(id: string, call: CallOptions = {}): AsyncGenerator<Revision, void> {
    return allOf((cursor) => this.#operations.listRevisions(id, { limit: MAX_PAGE_SIZE, cursor }, call));
  }

  /** Returns the transcript as it was after a revision, or as recognized (0), page by page. */
  segmentsAfter(id: string, revision: number, call: CallOptions = {}): AsyncGenerator<Segment, void> {
    return allOf((cursor) =>
      this.#operations.getRevision(id, revision, { limit: MAX_SEGMENT_PAGE_SIZE, cursor }, call),
    );
  }

  /** Returns the differences between the transcript after a revision and the latest, or another one, page by page. */
  differences(
    id: string,
    revision: number,
    { other, ...call }: CallOptions & { readonly other?: number | undefined } = {},
  ): AsyncGenerator<Difference, void> {
    const limit = MAX_SEGMENT_PAGE_SIZE;
    return allOf((cursor) => this.#operations.compareRevision(id, revision, { limit, cursor, other }, call));
  }

  /**
   * Restores the transcript as it was after a revision, or as recognized (0).
   * @param latest the latest revision that the program has read
   * @returns the latest revision
   */
  async restore(id: string, revision: number, latest: number, call: CallOptions = {}): Promise<number> {
    return (await this.#operations.restoreRevision(id, revision, await changeOf(latest), call)).revision;
  }

  /** Processes a completed recording again. When that is done, the transcript has another revision. */
  async processAgain(id: string, choices: ProcessAgain = {}, call: CallOptions = {}): Promise<Processing> {
    return this.#operations.processAgain(id, choices, { idempotency_key: await randomId() }, call);
  }

  /** Returns whether a recording is being processed again, or that has failed. */
  processing(id: string, call: CallOptions = {}): Promise<Processing> {
    return this.#operations.getProcessing(id, {}, call);
  }

  /** Returns the tags of a recording. */
  async tags(id: string, call: CallOptions = {}): Promise<string[]> {
    return (await this.#operations.getTags(id, {}, call)).tags;
  }

  /** Replaces all tags of a recording. */
  async setTags(id: string, tags: readonly string[], call: CallOptions = {}): Promise<string[]> {
    return (await this.#operations.setTags(id, { tags: [...tags] }, {}, call)).tags;
  }

  /** Returns the transcriptions with a tag, newest first, page by page. */
  tagged(
    tag: string,
    filter: Pick<ListTranscriptionsParameters, "status" | "created_after" | "created_before"> = {},
    call: CallOptions = {},
  ): AsyncGenerator<ListedTranscription, void> {
    const path = "/transcriptions";
    return allOf((cursor) => {
      const query = { ...filter, tag, cursor, limit: MAX_PAGE_SIZE };
      return this.#transport.json<TranscriptionPage>({ method: "GET", path, query }, call);
    });
  }

  /** Returns the transcriptions whose transcript or name has the searched words, newest first, page by page. */
  search(
    q: string,
    filter: Pick<SearchTranscriptionsParameters, "tag" | "status"> = {},
    call: CallOptions = {},
  ): AsyncGenerator<FoundTranscription, void> {
    return allOf((cursor) =>
      this.#operations.searchTranscriptions({ ...filter, q, cursor, limit: MAX_PAGE_SIZE }, call),
    );
  }
}

/** Returns the parameters of a change of a transcript. */
async function changeOf(revision: number) {
  return { if_match: `"${revision}"`, idempotency_key: await randomId() };
}
