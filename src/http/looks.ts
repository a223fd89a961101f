import PQueue from "p-queue";

/** Uploads that are looked at at a time: a look takes milliseconds, but a hostile file takes seconds, and memory, up to its limits. */
const looksAtOnce = 4;
/** Of one account, so that one with hostile files leaves places to the others. */
const looksOfAccount = 2;

/** The looks at uploads, in the order of their coming, a few at a time and fewer of each account. */
export class Looks {
  readonly #all = new PQueue({ concurrency: looksAtOnce });
  readonly #byAccount = new Map<string, PQueue>();

  /** Looks when it is the account's turn. */
  async take<T>(accountId: string, look: () => Promise<T>): Promise<T> {
    const own = this.#byAccount.get(accountId) ?? new PQueue({ concurrency: looksOfAccount });
    this.#byAccount.set(accountId, own);
    // Only those that an account may have at once wait in the line of all.
    const looked = own.add(() => this.#all.add(look));
    void own.onIdle().then(() => {
      const isOver = own.size + own.pending === 0 && this.#byAccount.get(accountId) === own;
      if (isOver) this.#byAccount.delete(accountId);
    });
    return await looked;
  }
}
