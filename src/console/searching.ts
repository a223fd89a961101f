import { SearchIndex } from "../recordings/index.ts";
import type { ConsoleServices } from "./services.ts";

/** How soon to try again what could not be taken into the search, because the disk was full for example. */
const againMilliseconds = 60_000;

/** Takes recordings into the search as they end, and those that ended while there was no console: in the background, one by one. */
export class Searching {
  readonly #index: SearchIndex;
  readonly #log: ConsoleServices["log"];
  readonly #controller = new AbortController();
  readonly #ended: string[] = [];
  /** Whether there may be some in the database that are not in the search. */
  #isBehind = true;
  #work: Promise<void> | null = null;
  #again: NodeJS.Timeout | null = null;

  constructor({ store, log }: Pick<ConsoleServices, "store" | "log">) {
    this.#index = new SearchIndex(store);
    this.#log = log;
    this.#begin();
  }

  /** Whether some that have ended may not be found yet. */
  get isBusy(): boolean {
    return this.#isBehind || this.#ended.length > 0;
  }

  add(recordingId: string): void {
    this.#ended.push(recordingId);
    this.#begin();
  }

  /** Stops; what is not in the search by then is taken in when the next server starts. */
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
      // What has just ended is what people look for.
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
