import { JetStreamApiError, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { type NatsConnection, PermissionViolationError } from "@nats-io/transport-node";
import { messageOf } from "../text/index.ts";

/** The stream with the coordinator's lease, and its only subject. No worker may read or write it. */
export const LEASE_STREAM = "TRANSCRIBE_LEASE";
export const leaseSubject = "transcribe.lease";

const MAX_LEASE_BYTES = 4096;
/** Shorter than a lease, so that a renewal on another connection can still come in time. */
const ANSWER_MILLISECONDS = 2000;

/** The lease could not be read or written, because of the broker or its settings. */
export class LeaseStreamError extends Error {
  override readonly name = "LeaseStreamError";
}

/**
 * A stream of a broker that holds one text, the coordinator's lease, in memory. A write names the text that it replaces
 * by its position and its own random id: positions begin again when the broker starts again.
 */
export class LeaseStream {
  readonly #connection: () => NatsConnection;
  readonly #untilLost: <T>(answer: Promise<T>) => Promise<T>;

  /**
   * @param connection returns the broker's connection @throws {Error} while the broker is away
   * @param untilLost waits for an answer of the broker @throws {Error} at once when the connection is lost
   */
  constructor(connection: () => NatsConnection, untilLost: <T>(answer: Promise<T>) => Promise<T>) {
    this.#connection = connection;
    this.#untilLost = untilLost;
  }

  /** Returns the text and its version; null if nothing was written since the broker started. @throws {LeaseStreamError} */
  async read(): Promise<{ readonly text: string | null; readonly version: string }> {
    return await this.#orFault(async () => {
      const manager = await jetstreamManager(this.#connection(), { timeout: ANSWER_MILLISECONDS, checkAPI: false });
      try {
        const found = await manager.streams.getMessage(LEASE_STREAM, { last_by_subj: leaseSubject });
        if (found === null) return { text: null, version: versionOf(0, "") };
        return { text: found.string(), version: versionOf(found.seq, found.header.get("Nats-Msg-Id")) };
      } catch (error) {
        if (!(error instanceof JetStreamApiError) || error.code !== STREAM_NOT_FOUND) throw error;
      }
      await manager.streams.add({
        name: LEASE_STREAM,
        subjects: [leaseSubject],
        storage: "memory",
        max_msgs_per_subject: 1,
        max_msg_size: MAX_LEASE_BYTES,
        num_replicas: 1,
      });
      return { text: null, version: versionOf(0, "") };
    });
  }

  /**
   * Writes a text if the last one has a version.
   * @returns the new version; null if another text was written meanwhile
   * @throws {LeaseStreamError}
   */
  async replace(version: string, text: string): Promise<string | null> {
    const [position = "0", lastMsgID = ""] = version.split(" ");
    const expect = { lastSubjectSequence: Number(position), ...(lastMsgID === "" ? {} : { lastMsgID }) };
    const msgID = crypto.randomUUID();
    return await this.#orFault(async () => {
      const client = jetstream(this.#connection(), { timeout: ANSWER_MILLISECONDS });
      try {
        const { seq } = await client.publish(leaseSubject, text, { msgID, expect, timeout: ANSWER_MILLISECONDS });
        return versionOf(seq, msgID);
      } catch (error) {
        if (error instanceof JetStreamApiError && WRONG_LAST.includes(error.code)) return null;
        throw error;
      }
    });
  }

  async #orFault<T>(use: () => Promise<T>): Promise<T> {
    try {
      return await this.#untilLost(use());
    } catch (error) {
      const hint =
        error instanceof PermissionViolationError
          ? "; its nats.conf is of an earlier version: write it again with transcribe fleet init --renew coordinator, and reload the broker"
          : "";
      throw new LeaseStreamError(`the broker does not answer (${messageOf(error)})${hint}`, { cause: error });
    }
  }
}

/** Codes of JetStream's errors (server/errors.json of nats-server). */
const STREAM_NOT_FOUND = 10_059;
/** Wrong last sequence, wrong last message id. */
const WRONG_LAST: readonly number[] = [10_071, 10_070];

function versionOf(position: number, id: string): string {
  return `${position} ${id}`;
}
