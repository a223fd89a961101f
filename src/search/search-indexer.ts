import type { Store } from "../database/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { indexMissing, indexRecording } from "./search-index.ts";

/**
 * Delay before a retry after a recording could not be added to the search index, for example because the disk was full.
 */
const RETRY_MILLISECONDS = 60_000;

/**
 * Adds recordings to the search index in the background, one at a time. Recordings that have just ended come first,
 * then those that earlier runs did not index.
 */
export class SearchIndexer {
  readonly #store: Store;
  readonly #log: Logger;
  readonly #stopController = new AbortController();
  readonly #pending: string[] = [];
  /** Whether the database may contain recordings that are not in the search index. */
  #isBehind = true;
  #work: Promise<void> | null = null;
  #retryTimer: NodeJS.Timeout | null = null;

  constructor({ store, log }: { readonly store: Store; readonly log: Logger }) {
    this.#store = store;
    this.#log = log;
    this.#start();
  }

  /** Whether the search may still miss some recordings that have completed or failed. */
  get isBusy(): boolean {
    return this.#isBehind || this.#pending.length > 0;
  }

  add(recordingId: string): void {
    this.#pending.push(recordingId);
    this.#start();
  }

  /** Stops the background work. The next start of a server adds the recordings that are then missing. */
  async stop(): Promise<void> {
    this.#stopController.abort(new Error("the server is stopping"));
    clearTimeout(this.#retryTimer ?? undefined);
    await this.#work;
  }

  #start(): void {
    if (this.#work !== null || this.#stopController.signal.aborted) return;
    this.#work = this.#indexPending().finally(() => {
      this.#work = null;
    });
  }

  async #indexPending(): Promise<void> {
    const { signal } = this.#stopController;
    try {
      // Recordings that have just ended come first, because people search for them.
      for (let id = this.#pending[0]; id !== undefined; id = this.#pending[0]) {
        await indexRecording(this.#store, id, signal);
        this.#pending.shift();
      }
      if (this.#isBehind) await indexMissing(this.#store, signal);
      this.#isBehind = false;
      if (this.#pending.length > 0) await this.#indexPending();
    } catch (error) {
      if (signal.aborted) return;
      this.#log.error({ event: "search.index_failed", err: error });
      this.#pending.length = 0;
      this.#isBehind = true;
      this.#retryTimer = setTimeout(() => this.#start(), RETRY_MILLISECONDS);
    }
  }
}
