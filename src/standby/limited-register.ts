import { FenceError, type LeaseRecord, type LeaseRegister, type Registered } from "./lease-record.ts";

/**
 * A register whose operations fail when they take too long. Storage that is lost may not answer at all, instead of with an
 * error. No operation begins while a former one has not ended, because each one occupies a thread of this process.
 */
export class LimitedRegister implements LeaseRegister {
  readonly #register: LeaseRegister;
  readonly #milliseconds: number;
  readonly #name: string;
  /** The operation that took too long; null if there is none. */
  #late: Promise<unknown> | null = null;

  /** @param name of the register, for people */
  constructor(register: LeaseRegister, milliseconds: number, name: string) {
    this.#register = register;
    this.#milliseconds = milliseconds;
    this.#name = name;
  }

  get forgets(): boolean {
    return this.#register.forgets;
  }

  identify(): Promise<string> {
    return this.#limited(() => this.#register.identify());
  }

  read(): Promise<Registered> {
    return this.#limited(() => this.#register.read());
  }

  replace(version: string, record: LeaseRecord): Promise<string | null> {
    return this.#limited(() => this.#register.replace(version, record));
  }

  async close(): Promise<void> {
    if (this.#late === null) await this.#register.close();
  }

  async #limited<T>(operate: () => Promise<T>): Promise<T> {
    if (this.#late !== null) throw this.#error();
    const operation = operate();
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      this.#late = operation;
      const ended = () => {
        this.#late = null;
      };
      operation.then(ended, ended);
      late.reject(this.#error());
    }, this.#milliseconds);
    return await Promise.race([operation, late.promise]).finally(() => clearTimeout(timer));
  }

  #error(): FenceError {
    return new FenceError(`${this.#name} does not answer; see that the storage is reachable and works`);
  }
}
