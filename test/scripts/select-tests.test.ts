import { describe, expect, test } from "bun:test";
import { root } from "../../harness/checkout.ts";
import {
  groupsOf,
  readArguments,
  selectTests,
  sizeOf,
  testSizes,
  timingsOf,
} from "../../tools/development/select-tests.ts";

describe("scripts/test", () => {
  test.each([
    [[], { isBinary: false, isChanged: false, isAll: false, sizes: [], paths: [], options: [] }],
    [["unit", "model", "test/http"], { sizes: ["unit", "model"], paths: ["test/http"] }],
    [["changed", "unit"], { isChanged: true, sizes: ["unit"] }],
    [["--all"], { isAll: true, sizes: [], paths: [], options: [] }],
    [["full", "test/speech"], { isAll: false, sizes: ["full"], paths: ["test/speech"] }],
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
    const all = selectTests(root, { sizes: [], paths: [], isAll: true });
    const bySize = testSizes.map((size) => selectTests(root, { sizes: [size], paths: [] }));
    expect(bySize.flat().sort()).toEqual(all);
  });

  const full = "test/devices/vulkan.full.test.ts";
  test.each([
    ["everything", { isAll: true }, true],
    ["the size full", { sizes: ["full"] as const }, true],
    ["its path", { paths: [full] }, true],
    ["the beginning of its name", { paths: ["./test/devices/vulkan"] }, true],
    ["the usual tests", {}, false],
    ["its folder", { paths: ["test/devices/"] }, false],
    ["a folder above it", { paths: ["test/speech"] }, false],
    ["other sizes", { sizes: ["model", "slow"] as const }, false],
  ])("runs a test of the size full or not if the selection is %s", (_, selection, runs) => {
    expect(selectTests(root, { sizes: [], paths: [], ...selection }).includes(`./${full}`)).toBe(runs);
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

  test("runs unit tests first, then integration tests with servers in their process, both with modules in common, and gives each other file modules of its own", () => {
    const sharing = ["./test/console/server/e.integration.test.ts", "./test/http/live/f.integration.test.ts"];
    const files = [
      "./test/a.model.test.ts",
      "./test/b.test.ts",
      "./test/c.integration.test.ts",
      "./test/http/d.test.ts",
    ];
    const others = ["./test/console/page/g.integration.test.ts", "./test/http/h.slow.test.ts"];
    expect(groupsOf([...files, ...sharing, ...others])).toEqual([
      { isIsolated: false, files: ["./test/b.test.ts", "./test/http/d.test.ts"] },
      { isIsolated: false, files: sharing },
      { isIsolated: true, files: ["./test/a.model.test.ts", "./test/c.integration.test.ts", ...others] },
    ]);
    expect(groupsOf(["./test/a.model.test.ts"])).toHaveLength(1);
  });
});
