import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { readVerdicts } from "../../src/devices/verdicts.ts";

const verdicts = resolve(import.meta.dir, "../../src/devices/verdicts.ts");
const [processes, updates] = [4, 50];

/** Adds verdicts one by one under keys of its own. */
const script = `
  const { addVerdicts } = await import(${JSON.stringify(verdicts)});
  const [path, name] = process.argv.slice(1);
  const verdict = { library: name, score: 1, state: "works", reason: "" };
  for (let update = 0; update < ${updates}; update++) addVerdicts(path, { [name + update]: verdict });
`;

test("processes that store verdicts at the same time lose none of them", async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "state", "devices.json");
  const children = Array.from({ length: processes }, (_, number) =>
    Bun.spawn([process.execPath, "-e", script, path, `process ${number}, update `], { stdin: "ignore" }),
  );
  expect(await Promise.all(children.map(({ exited }) => exited))).toEqual(children.map(() => 0));
  expect(Object.keys(readVerdicts(path))).toHaveLength(processes * updates);
  expect(readdirSync(join(directory.path, "state"))).toEqual(["devices.json"]);
});
