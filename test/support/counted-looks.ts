/** Copies that count how often their `startSeconds` is looked at: what a computation costs, without a clock. */
export function countedLooks<T extends { readonly startSeconds: number }>(all: readonly T[]) {
  let looks = 0;
  const counted = all.map((one) =>
    Object.defineProperty({ ...one }, "startSeconds", {
      enumerable: true,
      get: () => {
        looks++;
        return one.startSeconds;
      },
    }),
  );
  return { all: counted, looks: () => looks };
}
