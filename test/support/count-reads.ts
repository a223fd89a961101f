/**
 * Returns copies that count the reads of their `startSeconds`, and the count. The count measures the cost of a
 * computation without a clock.
 */
export function countReads<T extends { readonly startSeconds: number }>(all: readonly T[]) {
  let reads = 0;
  const counted = all.map((original) =>
    Object.defineProperty({ ...original }, "startSeconds", {
      enumerable: true,
      get: () => {
        reads++;
        return original.startSeconds;
      },
    }),
  );
  return { all: counted, reads: () => reads };
}
