/** How long a result is stored after its last use: programs read the next page within moments. */
const STORED_MILLISECONDS = 10_000;

/**
 * The latest result of work on a whole transcript, so that the pages of one result need the work once. Only one is stored,
 * because it has all segments of a transcript.
 */
export class LastResult<T> {
  #last: { readonly key: string; readonly result: T } | null = null;
  #timer: NodeJS.Timeout | undefined;

  /**
   * Returns the result for a key.
   * @param key names everything on which the result depends
   * @param make makes the result, unless it is that of the call before
   */
  async of(key: readonly (string | number)[], make: () => Promise<T>): Promise<T> {
    const wanted = JSON.stringify(key);
    const result = this.#last?.key === wanted ? this.#last.result : await make();
    this.#last = { key: wanted, result };
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#last = null;
    }, STORED_MILLISECONDS).unref();
    return result;
  }
}
