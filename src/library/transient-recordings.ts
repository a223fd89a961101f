import type { Usage } from "../usage/index.ts";
import { cancelOpen, type RemovalServices, removeEnded } from "./removal.ts";

interface TransientServices extends RemovalServices {
  readonly usage: Usage;
}

/** The recordings that are kept only until a waiting client has their transcript. The server itself calls it. */
export class TransientRecordings {
  readonly #services: TransientServices;

  constructor(services: TransientServices) {
    this.#services = services;
  }

  /** Removes a transient recording that has ended, unless an operator protects it: it is then kept, and shown. */
  async discard(id: string): Promise<void> {
    if (!(await removeEnded(this.#services, id))) this.keep(id);
  }

  /**
   * Cancels a transient recording and refunds its charge, unless it has ended, then removes all of it, or keeps it as
   * `discard` does. A queue that processes the recording removes later files itself.
   */
  async withdraw(id: string): Promise<void> {
    cancelOpen(this.#services, id);
    await this.discard(id);
  }

  /** Cancels a recording whose client has left, unless it has ended. The pipeline removes its work. */
  abandon(id: string): void {
    cancelOpen(this.#services, id);
  }

  /** Turns a transient recording into one that is kept, and that lists show. */
  keep(id: string): void {
    this.#services.recordings.keep(id);
  }

  /**
   * Withdraws the transient recordings of an earlier server: their clients are gone, and their charges are refunded.
   * Call it before the queue resumes recordings.
   * @param isKept whether recordings without a waiting client are kept
   */
  async withdrawLeft(isKept: boolean): Promise<void> {
    const { recordings, usage } = this.#services;
    for (const id of recordings.transientIds()) {
      if (isKept) {
        this.keep(id);
        continue;
      }
      usage.refundAudio(id);
      await this.withdraw(id);
    }
  }
}
