import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ChangeGate, mayAcknowledge } from "../disk/index.ts";
import type { DataPaths } from "../storage/index.ts";
import { codeOf } from "../text/index.ts";

/** Suffix of a request whose changes the standby has not confirmed. Any other request is removed when they are. */
const UNCONFIRMED = ".unconfirmed";
const LOOK_MILLISECONDS = 100;
/** Maximum wait of a command: a standby that is silent counts as lost after 15 s. */
const PATIENCE_MILLISECONDS = 20_000;

/** The folder is there only while a server waits for its standby. */
const folderOf = ({ state }: DataPaths) => join(state, "confirmations");

/**
 * Answers the requests of commands, which change the database themselves, whether the standby has their changes.
 * @param isRequired returns whether changes wait for the standby at all
 * @returns a function that ends this
 */
export function answerConfirmationRequests(paths: DataPaths, gate: ChangeGate, isRequired: () => boolean): () => void {
  const folder = folderOf(paths);
  const stopping = new AbortController();
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const look = async () => {
    if (!isRequired()) return remove();
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const requests = readdirSync(folder).filter((name) => !name.endsWith(UNCONFIRMED));
    if (requests.length === 0) return;
    const isConfirmed = await mayAcknowledge(gate, stopping.signal);
    for (const path of requests.map((name) => join(folder, name))) {
      // A command that has given up has removed its request.
      if (isConfirmed || !existsSync(path)) rmSync(path, { force: true });
      else renameSync(path, path + UNCONFIRMED);
    }
  };
  // Files of an earlier server belong to commands that have given up.
  remove();
  let isLooking = false;
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    // A full disk has other signs, and the next look repeats it.
    void look()
      .catch(() => {})
      .finally(() => {
        isLooking = false;
      });
  }, LOOK_MILLISECONDS);
  return () => {
    clearInterval(timer);
    stopping.abort(new Error("the server stops"));
    remove();
  };
}

/**
 * Waits until the standby has what this process has changed in the database of a server that runs.
 * @returns false if that is not known; true also if the server does not wait for its standby
 */
export async function requestConfirmation(paths: DataPaths): Promise<boolean> {
  const path = join(folderOf(paths), randomUUID());
  try {
    writeFileSync(path, "", { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (codeOf(error) === "ENOENT") return true;
    throw error;
  }
  for (
    const giveUpAt = performance.now() + PATIENCE_MILLISECONDS;
    existsSync(path);
    await sleep(LOOK_MILLISECONDS / 2)
  ) {
    if (performance.now() < giveUpAt) continue;
    rmSync(path, { force: true });
    return false;
  }
  const isUnconfirmed = existsSync(path + UNCONFIRMED);
  rmSync(path + UNCONFIRMED, { force: true });
  return !isUnconfirmed;
}
