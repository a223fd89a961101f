/** Calls `look` whenever all else has its turn, until `work` is done. @returns how often that was */
export async function meanwhile(work: Promise<unknown>, look: () => void = () => {}): Promise<number> {
  let turns = 0;
  let isDone = false;
  const next = () => {
    if (isDone) return;
    turns++;
    look();
    setImmediate(next);
  };
  setImmediate(next);
  await work.finally(() => {
    isDone = true;
  });
  return turns;
}
