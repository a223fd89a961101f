/** Groups consecutive items of the same speaker, in order. */
export function runsBySpeaker<T extends { readonly speaker: number }>(said: readonly T[]): T[][] {
  const runs: T[][] = [];
  for (const one of said) {
    const run = runs.at(-1);
    if (run?.[0]?.speaker === one.speaker) run.push(one);
    else runs.push([one]);
  }
  return runs;
}
