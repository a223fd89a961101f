import { describe, expect, test } from "bun:test";
import { root } from "../../harness/checkout.ts";
import { readArguments, selectTests, sizeOf, timingsOf } from "../../tools/development/select-tests.ts";

describe("scripts/test", () => {
  test.each([
    [[], { isBinary: false, isChanged: false, sizes: [], paths: [], options: [] }],
    [["unit", "model", "test/http"], { sizes: ["unit", "model"], paths: ["test/http"] }],
    [["changed", "unit"], { isChanged: true, sizes: ["unit"] }],
    [["--binary", "-t=a name", "test/e2e"], { isBinary: true, options: ["-t=a name"], paths: ["test/e2e"], sizes: [] }],
  ])("reads sizes, paths and options from %j", (args, selection) => {
    expect(readArguments(args)).toMatchObject(selection);
  });

  test("selects unit tests by the absence of a size in their names", () => {
    const files = selectTests(root, { sizes: ["unit"], paths: ["./test/scripts"] });
    expect(files).toContain("./test/scripts/select-tests.test.ts");
    expect(files.filter((file) => sizeOf(file) !== "unit" || !file.startsWith("./test/scripts/"))).toEqual([]);
  });

  test("runs every test file in exactly one size", () => {
    const all = selectTests(root, { sizes: [], paths: [] });
    const bySize = (["unit", "integration", "model", "slow"] as const).map((size) =>
      selectTests(root, { sizes: [size], paths: [] }),
    );
    expect(bySize.flat().sort()).toEqual(all);
  });

  test("refuses a path without tests, so that a misspelled path does not pass", () => {
    expect(() => selectTests(root, { sizes: [], paths: ["test/htttp"] })).toThrow("no tests: test/htttp");
  });

  test("starts the files first that took longest or have a slow size", () => {
    const { files } = timingsOf(["./test/a.test.ts", "./test/b.slow.test.ts", "./test/c.test.ts"], {
      "test/c.test.ts": 99_000,
    }) as { files: Record<string, number> };
    expect(Object.keys(files).sort((a, b) => (files[b] ?? 0) - (files[a] ?? 0))).toEqual([
      "test/c.test.ts",
      "test/b.slow.test.ts",
      "test/a.test.ts",
    ]);
  });
});
