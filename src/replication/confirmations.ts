import type { LogPosition } from "./log-format.ts";
import { ProtocolError } from "./messages.ts";

/** Called with whether the standby has everything that was written before. */
export type Waiter = (isConfirmed: boolean) => void;

/** A message `sync` that is not confirmed. */
interface Sync {
  readonly position: LogPosition | null;
  /** Time since which the changes before it wait. */
  readonly since: number;
  readonly waiters: readonly Waiter[];
}

/** The messages `sync` of a connection, whoever waits for them, and what the standby has confirmed. */
export class Confirmations {
  /** Messages that are not confirmed, by their numbers. */
  readonly #unconfirmed = new Map<number, Sync>();
  #lastNumber = 0;
  /** Waiters whose changes are being sent before the next message. */
  readonly #sending: Waiter[] = [];
  /** Waiters whose changes may come after the next message. */
  readonly #waiters: Waiter[] = [];

  /** Whether no message was sent yet. */
  get isFirst(): boolean {
    return this.#lastNumber === 0;
  }

  /** Whether somebody waits for whom nothing is being sent yet. */
  get isAwaited(): boolean {
    return this.#waiters.length > 0;
  }

  /** Time since which the oldest change waits; null for none. */
  get since(): number | null {
    return this.#unconfirmed.values().next().value?.since ?? null;
  }

  /** Resolves with true when what was written before is confirmed, and with false if the connection ends earlier. */
  async next(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#waiters.push(resolve);
    return await promise;
  }

  /** Lets the next message confirm what all current waiters have written. @returns whether there are any */
  begin(): boolean {
    this.#sending.push(...this.#waiters.splice(0));
    return this.#sending.length > 0;
  }

  /** Notes a message. @returns its number */
  sent(position: LogPosition | null, since: number): number {
    this.#lastNumber += 1;
    this.#unconfirmed.set(this.#lastNumber, { position, since, waiters: this.#sending.splice(0) });
    return this.#lastNumber;
  }

  /** Notes that everything before a message is durable. @returns the position before it @throws {ProtocolError} */
  confirm(number: number): LogPosition | null {
    const synced = this.#unconfirmed.get(number);
    if (synced === undefined) throw new ProtocolError("the standby confirmed what was not sent");
    for (const [earlier, { waiters }] of this.#unconfirmed) {
      if (earlier > number) break;
      this.#unconfirmed.delete(earlier);
      for (const resolve of waiters) resolve(true);
    }
    return synced.position;
  }

  end(): void {
    const sent = [...this.#unconfirmed.values()].flatMap(({ waiters }) => waiters);
    for (const resolve of [...sent, ...this.#sending, ...this.#waiters]) resolve(false);
  }
}
