import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, chownSync, copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { available, samplePath } from "../../harness/checkout.ts";
import { buildTimeout, builtProgram } from "../../harness/compiled-program.ts";
import { run } from "../../harness/processes.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { offline } from "../../tools/shared/offline.ts";

const nobody = 65_534;
const isRoot = process.getuid?.() === 0;
const sample = samplePath("sample.wav");
const ready = available("the program in one file without a network", sample);
const canIsolate = offline(["true"]) !== null;
if (!canIsolate) console.warn("SKIPPED: the program in one file without a network; namespaces need privileges");

/** Runs a command, then stops the server that it started, and waits for its exit. */
const andStopItsServer = `"$@" 2>"$said" && status=0 || status=$?
cat "$said" >&2
server=$(sed -n 's/.*(stop it: kill \\([0-9]*\\)).*/\\1/p' "$said")
kill "$server"
while kill -0 "$server" 2>/dev/null; do sleep 0.1; done
exit $status`;

describe.if(ready && canIsolate)("without a network, a HOME directory and privileges,", () => {
  const scope = temporaryDirectory();
  const [program, recording, empty, home] = ["transcribe", "sample.wav", "empty", "home"].map((name) =>
    join(scope.path, name),
  ) as [string, string, string, string];

  beforeAll(async () => {
    // Another user can traverse it.
    chmodSync(scope.path, 0o711);
    copyFileSync(await builtProgram(), program);
    copyFileSync(sample, recording);
    for (const directory of [empty, home]) {
      mkdirSync(directory);
      if (isRoot) chownSync(directory, nobody, nobody);
    }
  }, buildTimeout);
  afterAll(() => scope[Symbol.dispose]());

  test("the program transcribes the sample with speaker labels, and opens no connection", async () => {
    const asNobody = isRoot ? ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"] : [];
    const quickstart = [program, "quickstart", "--port", "0", recording];
    const command = offline([...asNobody, "sh", "-c", andStopItsServer, "sh", ...quickstart]);
    if (command === null) throw new Error("namespaces could be created a moment ago");
    const env = { PATH: process.env.PATH ?? "", HOME: home, said: join(empty, "said.txt") };
    const { exitCode, stdout, stderr } = await run(command, { cwd: empty, env });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: expect.stringContaining("offline: nothing tried to reach the network\n"),
    });
    expect(stdout).toMatch(/^ 0:\d\d\.\d – .* A {2}.*hello/im);
    expect(stdout).toMatch(/ B {2}.*Neither did I/i);
    expect(readdirSync(home)).toEqual([".cache"]);
    expect(readdirSync(empty).sort()).toEqual(["data", "said.txt"]);
  }, 180_000);
});
