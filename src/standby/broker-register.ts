import { messageOf } from "../text/index.ts";
import { FenceError, type LeaseRecord, type LeaseRegister, parseLeaseRecord, type Registered } from "./lease-record.ts";

/** The broker's stream with the lease; see LeaseStream of the fleet. */
interface TextStream {
  read(): Promise<{ readonly text: string | null; readonly version: string }>;
  replace(version: string, text: string): Promise<string | null>;
}

/** Stands for the broker among the ids of fences: a broker has no id that survives its restart. */
export const BROKER_ID = "broker";

/** The lease in a fleet's broker, whose memory is empty after its restart. */
export class BrokerRegister implements LeaseRegister {
  readonly forgets = true;
  readonly #stream: TextStream;
  readonly #close: () => Promise<void>;

  /** @param close closes the connection to the broker */
  constructor(stream: TextStream, close: () => Promise<void>) {
    this.#stream = stream;
    this.#close = close;
  }

  async identify(): Promise<string> {
    return BROKER_ID;
  }

  async read(): Promise<Registered> {
    const { text, version } = await orFenceError(() => this.#stream.read());
    return { record: text === null ? null : parseLeaseRecord(text, "the broker's stream"), version };
  }

  async replace(version: string, record: LeaseRecord): Promise<string | null> {
    return await orFenceError(() => this.#stream.replace(version, JSON.stringify(record)));
  }

  async close(): Promise<void> {
    await this.#close();
  }
}

async function orFenceError<T>(use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    throw new FenceError(messageOf(error), { cause: error });
  }
}
