/**
 * Calls a function for each item, in order, with several calls running at once. After a failure it starts no further
 * call and waits for the running ones.
 * @param atOnce returns the number of concurrent calls; evaluated before each start
 * @throws the first failure
 */
export async function forEachAtOnce<T>(
  items: Iterable<T>,
  atOnce: () => number,
  doOne: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  const running = new Set<Promise<void>>();
  let index = 0;
  for (const item of items) {
    while (running.size >= atOnce()) await Promise.race(running);
    if (failures.length > 0) break;
    const one = doOne(item, index++)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => running.delete(one));
    running.add(one);
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
}
