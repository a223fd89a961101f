// Loaded before each test file, by bunfig.toml.
import { afterAll } from "bun:test";
import childProcess from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import { removeTemporaryDirectories } from "./temporary-directory.ts";

afterAll(removeTemporaryDirectories);

/** Makes what a unit test must not use throw, so that a test without a size in its name stays one. */
function holdToUnitTest(): void {
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

// scripts/test loads this once for each file. Other runs of `bun test` may load it once for many.
const isUnitTest = /[\\/][^.\\/]+\.test\.tsx?$/.test(Bun.main);
if (process.env.TEST_SIZES === "enforced" && isUnitTest) holdToUnitTest();
