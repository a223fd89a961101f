import { expect, test } from "bun:test";
import { FleetModels } from "../../src/server/fleet-models.ts";
import { createLogger } from "../../src/telemetry/index.ts";

const never = new AbortController().signal;

/** The models of a worker whose installed models can be changed. */
function changeable() {
  const installed: { path: string; sha256: string }[] = [];
  const freed: string[][] = [];
  const models = new FleetModels({
    builtIn: { path: "/base", sha256: "0" },
    library: { list: () => installed.map((model) => ({ ...model, ...details })) },
    speech: () => ({
      admit: async () => {},
      encoderOf: async (path) => `${path}.onnx`,
      freeUnneeded: () => void freed.push(models.paths()),
    }),
    log: createLogger("silent"),
  });
  const digests = () => models.list().map(({ sha256 }) => sha256);
  return { installed, freed, models, digests };
}

const details = { id: "x", sizeBytes: 1, sha1: "", inCatalogue: false, from: "", installedAt: "" };

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
