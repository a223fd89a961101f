import { expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import type { RecordingModels } from "../../src/pipeline/index.ts";
import { ModelDigests } from "../../src/server/fleet-coordinator.ts";

test("the models that workers must have include a newly chosen one before its first recording", async () => {
  using directory = temporaryDirectory();
  const modelOf = (id: string) => ({ id, path: join(directory.path, id) });
  for (const id of ["base", "large", "helper", "german"]) writeFileSync(modelOf(id).path, "");
  const chosen = { id: "base" };
  const models: RecordingModels = {
    current: () => modelOf(chosen.id),
    find: modelOf,
    companionOf: ({ id }) => (id === "large" ? modelOf("helper") : null),
    routes: () => [{ codes: ["de"], model: modelOf("german") }],
    languagesOf: () => [],
    sha256Of: async ({ id, path }) => {
      if (!(await Bun.file(path).exists())) throw new Error("missing");
      return `digest of ${id}`;
    },
    admit: async () => {},
    encoderOf: async () => null,
    knownEncoderOf: async () => null,
  };
  const digests = new ModelDigests(models);
  await digests.sha256Of(models.current());
  expect(digests.needed()).toEqual(["digest of base"]);

  chosen.id = "large";
  rmSync(modelOf("german").path);
  await digests.learn();
  expect(digests.needed().sort()).toEqual(["digest of base", "digest of helper", "digest of large"]);
  expect(digests.of(modelOf("large").path)).toBe("digest of large");

  writeFileSync(modelOf("german").path, "");
  await digests.learn();
  expect(digests.needed()).toContain("digest of german");
  for (const path of [modelOf("base").path, modelOf("helper").path]) {
    rmSync(path);
    expect(digests.needed()).not.toContain(`digest of ${basename(path)}`);
  }
});
