import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type DataDirectory, DataDirectoryInUseError } from "../storage/index.ts";
import { codeOf, ExpectedError, messageOf } from "../text/index.ts";

/** A standby can't take over; the message gives the reason and what to do. */
export class PromotionError extends ExpectedError {
  override readonly name = "PromotionError";
}

/** Time in which a standby's process ends after SIGTERM, and after SIGKILL. */
const STOP_MILLISECONDS = 8000;
const KILL_MILLISECONDS = 4000;
/** Time for which another command may hold the lock. */
const OTHER_MILLISECONDS = 2000;
const CHECK_MILLISECONDS = 50;
/** Time for which a standby waits for the promotion that has ended it: a promotion takes at most 30 s. */
const PROMOTION_MILLISECONDS = 40_000;

/** Files of `state/` with the id of a process. */
const STANDBY_PID = "standby.pid";
const PROMOTION_PID = "promotion.pid";

/**
 * Ends the process of a standby, if one runs, and locks its data directory. A process that does not end is killed: its
 * database recovers.
 * @returns a function that releases the lock
 * @throws {PromotionError} if another process uses the data directory
 */
export async function endStandby(directory: DataDirectory): Promise<() => void> {
  const unlock = tryLock(directory);
  if (unlock !== null) return unlock;
  const pid = runningProcess(directory, STANDBY_PID, ["standby", "serve"]);
  if (pid === null) {
    const locked = await untilLocked(directory, OTHER_MILLISECONDS);
    if (locked !== null) return locked;
    throw new PromotionError(
      `another process uses ${directory.root}, perhaps a second transcribe promote; wait until it has ended, or end it, and repeat transcribe promote`,
    );
  }
  const signals = [
    ["SIGTERM", STOP_MILLISECONDS],
    ["SIGKILL", KILL_MILLISECONDS],
  ] as const;
  writeFileSync(join(directory.state, PROMOTION_PID), `${process.pid}\n`, { mode: 0o600 });
  for (const [signal, milliseconds] of signals) {
    end(pid, signal);
    const locked = await untilLocked(directory, milliseconds);
    if (locked !== null) return locked;
  }
  throw new PromotionError(
    `the standby's process ${pid} uses ${directory.root} and does not end; end it, and repeat transcribe promote`,
  );
}

async function untilLocked(directory: DataDirectory, milliseconds: number): Promise<(() => void) | null> {
  const giveUpAt = performance.now() + milliseconds;
  do {
    const unlock = tryLock(directory);
    if (unlock !== null) return unlock;
    await Bun.sleep(CHECK_MILLISECONDS);
  } while (performance.now() < giveUpAt);
  return null;
}

function tryLock(directory: DataDirectory): (() => void) | null {
  try {
    return directory.lock();
  } catch (error) {
    if (error instanceof DataDirectoryInUseError) return null;
    throw error;
  }
}

/**
 * Waits until the promotion that has ended this standby is complete, if there is one. The first process of a container
 * must not exit before: the container, and with it a promotion that runs there, ends with that process.
 */
export async function untilPromoted(directory: DataDirectory): Promise<void> {
  const giveUpAt = performance.now() + PROMOTION_MILLISECONDS;
  while (performance.now() < giveUpAt && runningProcess(directory, PROMOTION_PID, ["promote"]) !== null) {
    await Bun.sleep(CHECK_MILLISECONDS);
  }
}

/**
 * Returns the id of a running process that a file names; null if there is none.
 * @param words words of which its command line has one: the id may belong to another process since
 */
function runningProcess({ state }: DataDirectory, name: string, words: readonly string[]): number | null {
  try {
    const pid = Number(readFileSync(join(state, name), "utf8"));
    // The first process of a container has the id 1.
    if (!Number.isSafeInteger(pid) || pid < 1) return null;
    const commandLine = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return commandLine.some((word) => words.includes(word)) ? pid : null;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

function end(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (codeOf(error) === "ESRCH") return;
    throw new PromotionError(`can't end the standby's process ${pid}: ${messageOf(error)}`, { cause: error });
  }
}
