/** Calls `onTurn` on every turn of the event loop until `work` settles. @returns the number of turns */
export async function countTurnsUntilSettled(work: Promise<unknown>, onTurn: () => void = () => {}): Promise<number> {
  let turns = 0;
  let isSettled = false;
  const next = () => {
    if (isSettled) return;
    turns++;
    onTurn();
    setImmediate(next);
  };
  setImmediate(next);
  await work.finally(() => {
    isSettled = true;
  });
  return turns;
}
