import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { scriptBundle } from "../../tools/development/program-bundle.ts";
import { FolderBench } from "./folder-bench.ts";

setDefaultTimeout(120_000);

/** Steps that are tried at the same time, each in a process. */
const AT_ONCE = 4;
/** More steps than the work has. */
const MOST_STEPS = 120;

const parent = temporaryDirectory();
let script: string;
beforeAll(async () => {
  // About a hundred processes run the script. A bundle starts in half the CPU time.
  script = await scriptBundle(join(import.meta.dir, "visit-and-die.ts"), join(parent.path, "script"));
});
afterAll(() => parent[Symbol.dispose]());

test.each([["with links"], ["without links"]])(
  "a folder on a file system %s loses no file and does nothing twice, wherever the server is killed",
  async (links) => {
    const outcomes = new Map<number, string>();
    for (let first = 0; ![...outcomes.values()].includes("completed") && first < MOST_STEPS; first += AT_ONCE) {
      const steps = Array.from({ length: AT_ONCE }, (_, index) => first + index);
      await Promise.all(
        steps.map(async (step) => {
          const root = join(parent.path, `${links} ${step}`);
          await fill(root);
          const child = Bun.spawn([process.execPath, script, root, String(step), links], { stderr: "inherit" });
          await child.exited;
          if (child.signalCode === null) expect([step, child.exitCode]).toEqual([step, 0]);
          outcomes.set(step, child.signalCode === "SIGKILL" ? "killed" : "completed");
          await expectFinishedOnce(root, step);
        }),
      );
    }
    const found = [...outcomes.values()];
    expect(found.filter((outcome) => outcome === "killed").length).toBeGreaterThan(30);
    expect(found).toContain("completed");
  },
);

async function fill(root: string): Promise<void> {
  mkdirSync(root);
  using bench = await FolderBench.create({ root });
  bench.put("talk.mp3", "audio of the talk");
  bench.put("letter.mp3", "no recording");
}

async function expectFinishedOnce(root: string, step: number): Promise<void> {
  using bench = new FolderBench({ root });
  await bench.finish();
  expect([step, bench.recordingNames()]).toEqual([step, ["talk"]]);
  expect([step, bench.entries()]).toEqual([
    step,
    ["done/talk.mp3", "failed/letter.mp3", "failed/letter.mp3.txt", "talk.json", "talk.srt"],
  ]);
  expect([step, bench.read("done/talk.mp3")]).toEqual([step, "audio of the talk"]);
  expect(bench.folder).toMatchObject({ done: 1, failed: 1 });
  expect(bench.entries(bench.dataDirectory.incoming)).toEqual([]);
}
