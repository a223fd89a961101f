import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { chooseCpuLibraryFor, NoCpuLibraryError, requireCpuVariant } from "../../src/devices/index.ts";

/** ggml's rating of each variant, and the models that fail with it. */
const variants: Record<string, { score: number; fails: string }> = {
  "libggml-cpu-best.so": { score: 9, fails: "large" },
  "libggml-cpu-good.so": { score: 5, fails: "odd" },
  "libggml-cpu-plain.so": { score: 1, fails: "" },
  "libggml-cpu-foreign.so": { score: 0, fails: "" },
};

let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => directory[Symbol.dispose]());

function made() {
  const { path } = directory;
  const nativeDirectory = join(path, "native");
  mkdirSync(nativeDirectory);
  for (const name of Object.keys(variants)) writeFileSync(join(nativeDirectory, name), name);
  const cases = Object.entries(variants).map(
    ([name, { score, fails }]) =>
      `*${name}*) case "$1" in *rateCpuLibrary*) echo '{"score":${score}}';; *${fails || "nothing"}*) echo no >&2; exit 1;; *) echo '{"seconds":1,"instructions":"AVX2"}';; esac;;`,
  );
  const command = ["sh", "-c", `case "$1" in ${cases.join(" ")} esac`, "self-test"];
  const model = (name: string) => {
    writeFileSync(join(path, name), name);
    return join(path, name);
  };
  return { options: { command, nativeDirectory, verdictsPath: join(path, "verdicts.json") }, model };
}

describe("the CPU variant of a worker that serves several models", () => {
  test.each([
    ["one model", ["small"], "libggml-cpu-best.so"],
    ["two that the best one can run", ["small", "base"], "libggml-cpu-best.so"],
    ["one that the best one fails with", ["small", "large"], "libggml-cpu-good.so"],
    ["the same in another order", ["large", "small"], "libggml-cpu-good.so"],
    ["two that fail with different ones", ["large", "odd"], "libggml-cpu-plain.so"],
  ])("is the best that works with all of them: %s", async (_, names, library) => {
    const { options, model } = made();
    const choice = await chooseCpuLibraryFor(options, names.map(model));
    expect(choice.cpuLibrary).toBe(library);
    expect(choice.leftOut.map((each) => each.library)).not.toContain(library);
  });

  test("is chosen for several recordings at once, and the verdict for each is stored", async () => {
    const { options, model } = made();
    const models = Array.from({ length: 8 }, (_, index) => model(`small-${index}`));
    const choose = (how: typeof options) => Promise.all(models.map((path) => chooseCpuLibraryFor(how, [path])));
    const best = models.map(() => expect.objectContaining({ cpuLibrary: "libggml-cpu-best.so" }));
    expect(await choose(options)).toEqual(best);
    expect(await choose({ ...options, command: ["false"] })).toEqual(best);
  });

  test("is missing if a model fails with every variant, and the error names each reason", async () => {
    const { options, model } = made();
    const attempt = chooseCpuLibraryFor(options, [model("small"), model("large-odd"), model("x")]);
    expect((await attempt).cpuLibrary).toBe("libggml-cpu-plain.so");
    const command = [
      "sh",
      "-c",
      `case "$1" in *rateCpuLibrary*) echo '{"score":3}';; *) echo not a model >&2; exit 1;; esac`,
      "self-test",
    ];
    const failing = chooseCpuLibraryFor({ ...options, command }, [model("y")]);
    await expect(failing).rejects.toThrow(NoCpuLibraryError);
    await expect(failing).rejects.toMatchObject({ leftOut: Array(4).fill({ reason: "not a model" }) });
  });
});

describe("the CPU variant of the setting", () => {
  test.each([
    ["a slower one than the best", "good", "libggml-cpu-good.so"],
    ["the best one", "best", "libggml-cpu-best.so"],
    ["any", "auto", "libggml-cpu-best.so"],
  ])("is the only one that is used: %s", async (_, cpuVariant, library) => {
    const { options, model } = made();
    // A stored verdict on a faster one changes nothing.
    await chooseCpuLibraryFor(options, [model("small")]);
    const choice = await chooseCpuLibraryFor({ ...options, cpuVariant }, [model("small")]);
    expect(choice).toEqual({ cpuLibrary: library, leftOut: [] });
    await expect(requireCpuVariant({ ...options, cpuVariant })).resolves.toBeUndefined();
  });

  test.each([
    ["is not in this build", "haswel", /"haswel", but this build has no such CPU variant/],
    ["does not suit the processor", "foreign", /"foreign", but this processor lacks instructions of this variant/],
    ["is a file name", "libggml-cpu-good.so", /this build has no such CPU variant/],
    ["is empty", "", /"", but this build has no such CPU variant/],
  ])("that %s is refused with the variants that can be used", async (_, cpuVariant, reason) => {
    const { options, model } = made();
    const attempts = [
      () => requireCpuVariant({ ...options, cpuVariant }),
      () => chooseCpuLibraryFor({ ...options, cpuVariant }, [model("small")]),
    ];
    for (const attempt of attempts) {
      const error = await attempt().catch(String);
      expect(error).toMatch(reason);
      expect(error).toEndWith(
        "Available here, fastest first: best, good, plain. Set one of these names, or auto for the fastest",
      );
    }
  });

  test("that fails its self-test is not replaced by another", async () => {
    const { options, model } = made();
    const failing = chooseCpuLibraryFor({ ...options, cpuVariant: "best" }, [model("small"), model("large")]);
    await expect(failing).rejects.toThrow("libggml-cpu-best.so: no); engine.cpu_variant allows only best");
  });
});
