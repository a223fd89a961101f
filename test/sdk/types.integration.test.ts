import { afterAll, expect, test } from "bun:test";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../harness/checkout.ts";
import { resultOf } from "../../harness/processes.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { defaultCacheRoot } from "../../native/build.ts";
import { testPackages } from "../../tools/development/test-packages.ts";
import { installPythonPackages } from "../../tools/shared/python.ts";
import { CommandError } from "../../tools/shared/run-command.ts";
import { installPythonSdk, installTypescriptSdk } from "../support/sdk.ts";

/** Installing and checking, on a machine that also runs a build. */
const timeout = 180_000;

const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());

/** Runs a type checker. @returns its exit code and its output */
async function run(command: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const env = { ...process.env, ...environment };
  const child = Bun.spawn([...command], { cwd: folder.path, env, stdout: "pipe", stderr: "pipe" });
  const { exitCode, stdout, stderr } = await resultOf(child);
  return { exitCode, output: stdout + stderr };
}

/** A program with one mistake in its last line, which a type checker must find. */
const wrong = {
  ts: 'import { Client } from "transcribe-sdk";\nvoid new Client({ baseUrl: "", key: "" }).export("id", "mp3");\n',
  py: 'from transcribe_sdk import Client\n\nClient("", "").export("id", "mp3")\n',
};

test.concurrent(
  "the installed TypeScript client passes the strictest checks of TypeScript, and finds a wrong format",
  async () => {
    await installTypescriptSdk(folder.path);
    copyFileSync(join(import.meta.dir, "scenarios.mts"), join(folder.path, "right.mts"));
    copyFileSync(join(import.meta.dir, "live-scenarios.mts"), join(folder.path, "right-live.mts"));
    writeFileSync(join(folder.path, "wrong.mts"), wrong.ts);
    const compilerOptions = {
      ...{ target: "ES2022", module: "NodeNext", lib: ["ES2023", "DOM"], types: ["node"] },
      ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: false },
      ...{ noEmit: true, allowImportingTsExtensions: true, typeRoots: [join(root, "node_modules/@types")] },
    };
    writeFileSync(join(folder.path, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.mts"] }));
    const compiler = join(root, "node_modules/typescript/bin/tsc");
    const { exitCode, output } = await run([process.execPath, compiler, "--pretty", "false"]);
    expect(exitCode).not.toBe(0);
    const faults = output.split("\n").filter((line) => /error TS\d+/.test(line));
    expect(faults.map((line) => line.replace(/\((\d+),\d+\): error (TS\d+).*/, " $1 $2"))).toEqual([
      "wrong.mts 2 TS2345",
    ]);
  },
  timeout,
);

const tools = await installPythonPackages(defaultCacheRoot(), testPackages.typeCheckers).catch((error: unknown) => {
  if (!(error instanceof CommandError)) throw error;
  console.warn(`SKIPPED: types of the Python client; mypy and pyright cannot be installed: ${error.message}`);
  return null;
});

test.concurrent.if(tools !== null)(
  "the installed Python client passes the strict checks of mypy and pyright, and both find a wrong format",
  async () => {
    const [runtime] = await installPythonSdk(folder.path);
    if (runtime === undefined || tools === null) return;
    copyFileSync(join(import.meta.dir, "scenarios.py"), join(folder.path, "right.py"));
    copyFileSync(join(import.meta.dir, "live-scenarios.py"), join(folder.path, "right_live.py"));
    writeFileSync(join(folder.path, "wrong.py"), wrong.py);
    const packages = runtime.environment.PYTHONPATH ?? "";
    const checked = [join(packages, "transcribe_sdk"), "right.py", "right_live.py", "wrong.py"];
    const strict = ["--strict", "--python-version", "3.10", "--cache-dir", "/dev/null"];
    const pyright = { pythonVersion: "3.9", extraPaths: [packages], typeCheckingMode: "strict" };
    // The tests look into the client's private members.
    const config = { ...pyright, reportPrivateUsage: false, include: ["*.py", packages] };
    writeFileSync(join(folder.path, "pyrightconfig.json"), JSON.stringify(config));
    const node = Bun.which("node") ?? process.execPath;
    const [byMypy, byPyright] = await Promise.all([
      run(["python3", "-m", "mypy", ...strict, ...checked], { PYTHONPATH: tools, MYPYPATH: packages }),
      run([node, join(tools, "pyright/dist/index.js"), "--project", folder.path]),
    ]);
    const faultsOf = (output: string) => output.split("\n").filter((line) => / error: /.test(line));
    expect(faultsOf(byMypy.output).map((line) => line.replace(/: error.*/, ""))).toEqual(["wrong.py:3"]);
    const faults = faultsOf(byPyright.output).map((line) => line.replace(/.*\/(\w+\.py:\d+):.*/, "$1"));
    expect(faults).toEqual(["wrong.py:3"]);
  },
  timeout,
);
