/**
 * Does something with each item: begins in their order and has several under way at once. When one fails, no other begins,
 * and those under way are waited for.
 * @param atOnce how many at once; asked again before each
 * @throws what the first one failed with
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
