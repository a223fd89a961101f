import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { available, root } from "../../harness/checkout.ts";
import { nativeDirectory } from "../../native/build.ts";
import { patchFiles, whisperSource } from "../../native/steps/source.ts";
import { UPSTREAM } from "../../native/upstream.ts";
import { nativeReadme, patchHeads } from "../../tools/development/docs/pages.ts";

const read = (...path: string[]) => readFileSync(join(...path), "utf8");

describe("the source of whisper.cpp", () => {
  test("is the package, the version and the digest that package.json and bun.lock have", () => {
    const { dependencies = {}, devDependencies = {} } = JSON.parse(read(root, "package.json"));
    expect({ ...dependencies, ...devDependencies }[UPSTREAM.package]).toBe(UPSTREAM.packageVersion);
    const [locked = ""] = read(root, "bun.lock").match(new RegExp(`^    "${UPSTREAM.package}": .*$`, "m")) ?? [];
    expect(locked).toContain(`"${UPSTREAM.package}@${UPSTREAM.packageVersion}"`);
    expect(locked).toContain(`"${UPSTREAM.integrity}"`);
  });

  test.skipIf(!available("whisper.cpp's versions", whisperSource(root)))("has the versions that are named", () => {
    const tree = whisperSource(root);
    expect(read(tree, "CMakeLists.txt")).toContain(`project("whisper.cpp" VERSION ${UPSTREAM.whisperCpp})`);
    const ggml = read(tree, "ggml", "CMakeLists.txt");
    const parts = ["MAJOR", "MINOR", "PATCH"].map((name) => ggml.match(`GGML_VERSION_${name} (\\d+)\\)`)?.[1]);
    expect(parts.join(".")).toBe(UPSTREAM.ggml);
  });
});

describe("the patches", () => {
  test("apply purpose by purpose, and by number within a purpose", async () => {
    const names = (await patchFiles(nativeDirectory)).map((path) =>
      path.slice(join(nativeDirectory, "patches/").length),
    );
    expect([...new Set(names.map((name) => name.split("/")[0]))]).toEqual(["fixes", "hooks", "limits", "speed"]);
    for (const purpose of ["fixes", "hooks", "limits", "speed"]) {
      const numbers = names.filter((name) => name.startsWith(`${purpose}/`)).map((name) => /\/(\d\d)-/.exec(name)?.[1]);
      expect(numbers).toEqual(numbers.map((_, at) => String(at + 1).padStart(2, "0")));
    }
  });

  test("say in two lines why they exist and whether upstream has them, and the README has both", async () => {
    const heads = await patchHeads();
    expect(heads.length).toBeGreaterThan(20);
    for (const { why, upstream, files } of heads) {
      expect(why).toMatch(/^[A-Z0-9].{30,}\.$/);
      expect(upstream).toMatch(/\b(?:1\.9\.3|ggml \d+\.\d+\.\d+)\b/);
      expect(files.length).toBeGreaterThan(0);
    }
    const readme = read(nativeDirectory, "README.md");
    expect(await nativeReadme(readme), "run scripts/docs").toBe(readme);
  });
});
