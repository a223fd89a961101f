/** Yields to the event loop during long work in the server. @throws the signal's reason when it is aborted */
export async function yieldToEventLoop(signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
  signal?.throwIfAborted();
}

/**
 * Calls a function for each item, in order, with several calls running at once. After a failure it starts no further
 * call and waits for the running ones.
 * @param lanes has the number of concurrent calls, which is read before each start
 * @throws the first failure
 */
export async function forEachConcurrently<T>(
  items: Iterable<T>,
  lanes: { readonly partsAtOnce: number },
  doOne: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  const running = new Set<Promise<void>>();
  let index = 0;
  for (const item of items) {
    while (running.size >= lanes.partsAtOnce) await Promise.race(running);
    if (failures.length > 0) break;
    const one = doOne(item, index++)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => running.delete(one));
    running.add(one);
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
}

/**
 * Runs two tasks at the same time. When one fails, the signal of the other is aborted. Both have stopped when the
 * returned promise settles.
 * @param signal aborts both
 * @throws the first failure
 */
export async function together<A, B>(
  signal: AbortSignal,
  first: (signal: AbortSignal) => Promise<A>,
  second: (signal: AbortSignal) => Promise<B>,
): Promise<[A, B]> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const stopOther = (error: unknown): never => {
    failed.abort(error);
    throw error;
  };
  const tasks = [first(either).catch(stopOther), second(either).catch(stopOther)] as const;
  await Promise.allSettled(tasks);
  if (failed.signal.aborted) throw failed.signal.reason;
  return await Promise.all(tasks);
}
