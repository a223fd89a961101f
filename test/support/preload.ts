// Loaded before the test files of a process or of a module registry, by bunfig.toml.
import { Database } from "bun:sqlite";
import { afterAll, setDefaultTimeout } from "bun:test";
import childProcess from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import { removeTemporaryDirectories } from "../../harness/temporary-directory.ts";

/** Time limit of a test that sets no other. The usual 5 s are too short on a machine that runs a build as well. */
const DEFAULT_TIMEOUT_MILLISECONDS = 60_000;

// Bun resets this limit after the first file of a process. Files with slow tests therefore set it themselves, too.
setDefaultTimeout(DEFAULT_TIMEOUT_MILLISECONDS);
afterAll(removeTemporaryDirectories);
skipDiskWaits();

/** Makes commits of this process not wait for the disk, which takes most of the time of many tests. */
function skipDiskWaits(): void {
  const { run } = Database.prototype;
  // Bun may load this file several times for the same global.
  if ("waiting" in run) return;
  const runWithoutWaiting = function (this: Database, sql: string, ...bindings: []) {
    return run.call(this, sql === "PRAGMA synchronous = FULL" ? "PRAGMA synchronous = OFF" : sql, ...bindings);
  };
  Database.prototype.run = Object.assign(runWithoutWaiting, { waiting: run });
}

/** Makes commits wait for the disk as in the program, for databases that are opened until disposal. */
export function waitForDisk(): Disposable {
  const { run } = Database.prototype;
  if ("waiting" in run) Database.prototype.run = run.waiting as typeof run;
  return {
    [Symbol.dispose]() {
      Database.prototype.run = run;
    },
  };
}

/** Makes functions that a unit test must not call throw, so that unit tests start no process and serve nothing. */
function refuseProcessesAndAddons(): void {
  const refuse = () => {
    throw new Error(
      "a unit test starts no process, serves nothing and loads no addon: name the test's size in its file name",
    );
  };
  Object.assign(Bun, { spawn: refuse, spawnSync: refuse, serve: refuse });
  const { spawn, spawnSync, exec, execSync, execFile, execFileSync, fork } = childProcess;
  for (const { name } of [spawn, spawnSync, exec, execSync, execFile, execFileSync, fork]) {
    Object.assign(childProcess, { [name]: refuse });
  }
  process.dlopen = refuse;
  syncBuiltinESMExports();
}

// scripts/test runs unit tests in processes that run nothing else. Other runs of `bun test` may load this once for many.
const isUnitTest = /[\\/][^.\\/]+\.test\.tsx?$/.test(Bun.main);
if (process.env.TEST_SIZES === "enforced" && isUnitTest) refuseProcessesAndAddons();
