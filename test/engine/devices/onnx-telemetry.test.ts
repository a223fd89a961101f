import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { ownCommand, programFiles } from "../../../src/program/index.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

test.each([
  ["says nothing", {}],
  ["wants it to report", { ORT_DISABLE_TELEMETRY: "0" }],
])("ONNX Runtime reports to nobody and notes no id of the machine, when the environment %s", async (_, environment) => {
  using home = temporaryDirectory();
  const { onnxBinding, segmentationModel, embeddingModel } = await programFiles("");
  const child = Bun.spawn(ownCommand("__selftest", "onnx", onnxBinding, segmentationModel, embeddingModel), {
    env: { HOME: home.path, BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0", ...environment },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  expect(await new Response(child.stdout).json()).toEqual({ seconds: expect.any(Number) });
  expect(await child.exited).toBe(0);
  expect(readdirSync(home.path)).toEqual([]);
});
