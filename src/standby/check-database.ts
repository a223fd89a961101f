import { Database } from "bun:sqlite";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { dieWithParent, ownCommand, yieldProcessor } from "../program/index.ts";
import type { DataPaths } from "../storage/index.ts";
import { codeOf, messageOf } from "../text/index.ts";

/** The child process prints this. */
const resultSchema = Type.Object({ damage: Type.Union([Type.String(), Type.Null()]) });

/**
 * Checks a database for damage in a child process: SQLite blocks its process meanwhile and can't be interrupted. It reads
 * 200 MB in a second from memory, with two cores of an AMD EPYC (zen4) under load.
 * @param isUrgent false: with a lower priority
 * @returns the first damage in SQLite's words; null if there is none
 * @throws the signal's reason after an abort
 */
export async function findDamage(path: string, isUrgent: boolean, signal: AbortSignal): Promise<string | null> {
  signal.throwIfAborted();
  const child = Bun.spawn(ownCommand("__check", path), {
    ...{ stdin: "ignore", stdout: "pipe", stderr: "pipe" },
    env: {},
    cwd: "/",
    signal,
    killSignal: "SIGKILL",
  });
  if (!isUrgent) yieldProcessor(child.pid);
  const texts = [child.stdout, child.stderr].map((stream) => new Response(stream).text());
  const [printed = "", errors = ""] = await Promise.all(texts);
  const exitCode = await child.exited;
  signal.throwIfAborted();
  if (exitCode !== 0)
    throw new Error(`the check of the database exited with ${exitCode}: ${errors.slice(-500).trim()}`);
  return Value.Parse(resultSchema, JSON.parse(printed)).damage;
}

/** Checks the database at a path, and prints the result. */
export function runCheck([path = ""]: readonly string[]): void {
  dieWithParent();
  process.stdout.write(JSON.stringify({ damage: damageOf(path) }));
}

function damageOf(path: string): string | null {
  try {
    using database = new Database(path, { readonly: true });
    const found = database.query<{ quick_check: string }, []>("PRAGMA quick_check(1)").get()?.quick_check ?? "ok";
    return found === "ok" ? null : found;
  } catch (error) {
    if (codeOf(error) !== "SQLITE_CORRUPT") throw error;
    return messageOf(error);
  }
}

/** A file that a promotion leaves if the time was too short to check the database. */
const pathOf = ({ state }: Pick<DataPaths, "state">) => join(state, "unchecked-database");

/** Returns whether a promotion could not check the database, so that the server still has to. */
export function isUnchecked(paths: Pick<DataPaths, "state">): boolean {
  return existsSync(pathOf(paths));
}

export function storeUnchecked(paths: Pick<DataPaths, "state">, isUnchecked: boolean): void {
  if (isUnchecked) writeFileSync(pathOf(paths), "", { mode: 0o600, flush: true });
  else rmSync(pathOf(paths), { force: true });
}
