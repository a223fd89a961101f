import { SearchIndex } from "../recordings/index.ts";
import type { ConsoleServices } from "./services.ts";

/**
 * Delay before a retry after a recording could not be added to the search index, for example because the disk was full.
 */
const againMilliseconds = 60_000;

/**
 * Adds recordings to the search index in the background, one at a time. Recordings that have just ended come first,
 * then those that earlier runs did not index.
 */
export class Searching {
  readonly #index: SearchIndex;
  readonly #log: ConsoleServices["log"];
  readonly #controller = new AbortController();
  readonly #ended: string[] = [];
  /** Whether the database may contain recordings that are not in the search index. */
  #isBehind = true;
  #work: Promise<void> | null = null;
  #again: NodeJS.Timeout | null = null;

  constructor({ store, log }: Pick<ConsoleServices, "store" | "log">) {
    this.#index = new SearchIndex(store);
    this.#log = log;
    this.#begin();
  }

  /** Whether the search may still miss some recordings that have completed or failed. */
  get isBusy(): boolean {
    return this.#isBehind || this.#ended.length > 0;
  }

  add(recordingId: string): void {
    this.#ended.push(recordingId);
    this.#begin();
  }

  /** Stops the background work. The next start of a server adds the recordings that are then missing. */
  async stop(): Promise<void> {
    this.#controller.abort(new Error("the server is stopping"));
    clearTimeout(this.#again ?? undefined);
    await this.#work;
  }

  #begin(): void {
    if (this.#work !== null || this.#controller.signal.aborted) return;
    this.#work = this.#takeIn().finally(() => {
      this.#work = null;
    });
  }

  async #takeIn(): Promise<void> {
    const { signal } = this.#controller;
    try {
      // Recordings that have just ended come first, because people search for them.
      for (let id = this.#ended[0]; id !== undefined; id = this.#ended[0]) {
        await this.#index.add(id, signal);
        this.#ended.shift();
      }
      if (this.#isBehind) await this.#index.addAll(signal);
      this.#isBehind = false;
      if (this.#ended.length > 0) await this.#takeIn();
    } catch (error) {
      if (signal.aborted) return;
      this.#log.error({ event: "console.search_failed", err: error });
      this.#ended.length = 0;
      this.#isBehind = true;
      this.#again = setTimeout(() => this.#begin(), againMilliseconds);
    }
  }
}
