import { expect, test } from "bun:test";
import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { FleetModels } from "../../src/server/fleet-models.ts";
import { createLogger } from "../../src/telemetry/index.ts";

const never = new AbortController().signal;

/** The models of a worker whose installed models can be changed. */
function changeable(inCatalogue = true) {
  const installed: { path: string; sha256: string }[] = [];
  const freed: string[][] = [];
  /** Digests of files that differ from their models'. */
  const onDisk = new Map<string, string>();
  const models = new FleetModels({
    builtIn: { path: "/base", sha256: "0" },
    library: { list: () => installed.map((model) => ({ ...model, id: "x", inCatalogue })) },
    digest: async (path) => onDisk.get(path) ?? installed.find((model) => model.path === path)?.sha256 ?? "",
    speech: () => ({
      admit: async () => {},
      encoderOf: async (path) => `${path}.onnx`,
      freeUnneeded: () => void freed.push(models.paths()),
    }),
    log: createLogger("silent"),
  });
  const digests = () => models.list().map(({ sha256 }) => sha256);
  return { installed, freed, onDisk, models, digests };
}

test("a worker's models are the installed ones at each time, after the one that is part of the program", () => {
  const { installed, digests } = changeable();
  expect(digests()).toEqual(["0"]);
  installed.push({ path: "/large", sha256: "1" });
  expect(digests()).toEqual(["0", "1"]);
  installed.pop();
  expect(digests()).toEqual(["0"]);
});

test("the engine may use a model from its preparation on, until it is removed or replaced", async () => {
  const { installed, freed, models, digests } = changeable();
  installed.push({ path: "/large", sha256: "1" });
  const large = () => models.list()[1];
  expect(await large()?.prepare(never, true)).toBe("/large.onnx");
  expect(await large()?.prepare(never, false)).toBeNull();
  expect([models.paths(), freed]).toEqual([["/base", "/large"], []]);
  installed[0] = { path: "/large", sha256: "2" };
  expect(digests()).toEqual(["0", "2"]);
  expect(freed).toEqual([["/base"]]);
  await large()?.prepare(never, false);
  installed.pop();
  expect(digests()).toEqual(["0"]);
  expect(freed).toEqual([["/base"], ["/base"]]);
});

test("a damaged model is offered no more until its file is replaced, and the trouble says how to repair it", async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "model.bin");
  writeFileSync(path, "damaged");
  const { installed, onDisk, models, digests } = changeable();
  installed.push({ path, sha256: "1" });
  onDisk.set(path, "other");
  expect([digests(), models.trouble]).toEqual([["0", "1"], null]);
  await expect(models.list()[1]?.prepare(never, false)).rejects.toThrow("repair it: transcribe models pull x");
  expect(digests()).toEqual(["0"]);
  expect(models.paths()).toEqual(["/base"]);
  expect(models.trouble).toContain("the model x of this machine is damaged");
  writeFileSync(path, "repaired");
  utimesSync(path, 1, 1);
  onDisk.clear();
  expect([digests(), models.trouble]).toEqual([["0", "1"], null]);
  expect(await models.list()[1]?.prepare(never, false)).toBeNull();
});

test("a damaged model that is not in the catalogue is to be imported again, because it cannot be pulled", async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "model.bin");
  writeFileSync(path, "damaged");
  const { installed, onDisk, models } = changeable(false);
  installed.push({ path, sha256: "1" });
  onDisk.set(path, "other");
  const repair = "repair it: transcribe models remove x, then transcribe models import FILE";
  await expect(models.list()[1]?.prepare(never, false)).rejects.toThrow(repair);
  expect(models.trouble).not.toContain("pull");
});
