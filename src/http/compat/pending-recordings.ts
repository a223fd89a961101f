import type { Settings } from "../../config/index.ts";
import type { Library } from "../../library/index.ts";
import { isOpen, type Recording, type RecordingEvents, type RecordingQueue } from "../../recordings/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { messageOf } from "../../text/index.ts";
import type { RequestIntake } from "../shared/request-intake.ts";
import type { ClientWait } from "./client-wait.ts";

export interface PendingServices {
  readonly library: Library;
  readonly events: RecordingEvents;
  readonly queue: Pick<RecordingQueue, "followCommands">;
  readonly requests: RequestIntake;
  readonly compat: () => Settings["compat"];
  readonly log: Logger;
}

/**
 * The recordings whose clients wait for their transcripts. They are removed when the transcript was delivered, and
 * cancelled when the client waits no longer, as the settings say.
 */
export class PendingRecordings {
  readonly #services: PendingServices;

  constructor(services: PendingServices) {
    this.#services = services;
  }

  /**
   * Waits until a recording has ended.
   * @param enough ends the wait early when it resolves; nothing happens to the recording then
   * @returns its record; null if it was deleted
   * @throws the reason of the wait's signal when it ends early; the recording is then cancelled, or kept
   */
  async untilEnded(id: string, wait: ClientWait, enough?: Promise<void>): Promise<Recording | null> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => reject(wait.signal.reason);
    const { library, events } = this.#services;
    const unsubscribe = events.onEnded(`client of ${id}`, (ended) => {
      if (ended.id === id) resolve();
    });
    wait.signal.addEventListener("abort", leave, { once: true });
    try {
      if (wait.signal.aborted) leave();
      const before = library.find(id);
      if (before === null || !isOpen(before.status)) resolve();
      await Promise.race([promise, ...(enough === undefined ? [] : [enough])]);
      return library.find(id);
    } catch (error) {
      await this.#abandon(id, wait);
      throw error;
    } finally {
      unsubscribe();
      wait.signal.removeEventListener("abort", leave);
    }
  }

  /** Removes a recording that has ended, and whose answer is ready, unless it is kept. */
  async answered(id: string, wait: ClientWait): Promise<void> {
    const { library } = this.#services;
    if (wait.end === "disconnected") return this.#abandon(id, wait);
    if (library.find(id)?.isTransient === true) await this.#withoutError(id, () => library.discard(id));
  }

  /** Removes a transient recording of which no more is needed, and refunds its charge. */
  async withdraw(id: string): Promise<void> {
    const { library, queue, requests } = this.#services;
    await this.#withoutError(id, async () => {
      const withdrawn = library.withdraw(id);
      queue.followCommands();
      requests.intake.limits.serveWaiting();
      await withdrawn;
    });
  }

  /** Cancels or keeps a recording whose client waits no longer. */
  async #abandon(id: string, { end }: ClientWait): Promise<void> {
    const { library, queue, requests, compat } = this.#services;
    await this.#withoutError(id, async () => {
      const recording = library.find(id);
      if (recording === null) return;
      if (compat().keep_abandoned) return library.keep(id);
      if (recording.isTransient) return await this.withdraw(id);
      // A kept recording is cancelled only if its client has left: after a restart it is processed to its end.
      if (end !== "disconnected") return;
      library.abandon(id);
      queue.followCommands();
      requests.intake.limits.serveWaiting();
    });
  }

  /** Logs an error: the next start of the server removes what is left. */
  async #withoutError(recordingId: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#services.log.error({ event: "compat.removal_failed", recordingId, detail: messageOf(error) });
    }
  }
}
