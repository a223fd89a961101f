import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../harness/checkout.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type Artefact, otherFiles, readArtefacts, requireSame } from "../../tools/release/artefacts.ts";
import { checkChangelog, checkTools, RELEASE_TOOLS } from "../../tools/release/preconditions.ts";
import { acceptedSkips, findSkips } from "../../tools/release/skips.ts";
import { releaseSteps } from "../../tools/release/steps.ts";

const directory = temporaryDirectory();
afterAll(() => directory[Symbol.dispose]());

describe("the changelog of a release", () => {
  const entry = "\n\n- A change.\n\n";
  const old = `## 0.2.0 – 2026-11-22${entry}`;
  test.each<[name: string, text: string, dryRun: boolean, expected: string | RegExp]>([
    [
      "has a dated section",
      `## Unreleased\n\n## 0.3.0 – 2026-12-01${entry}${old}`,
      false,
      "0.3.0 – 2026-12-01, 1 entries",
    ],
    ["may be undated in a dry run", `## Unreleased${entry}${old}`, true, "Unreleased, 1 entries"],
    ["must be dated in a release", `## Unreleased${entry}${old}`, false, /no section "0.3.0 – DATE"/],
    ["must have entries", `## 0.3.0 – 2026-12-01\n\n${old}`, false, /has no entry/],
    ["must have a date", `## 0.3.0 – soon${entry}${old}`, false, /no date/],
    ["leaves nothing unreleased", `## Unreleased${entry}## 0.3.0 – 2026-12-01${entry}`, false, /under "Unreleased"/],
    [
      "has no newer version",
      `## 0.10.0 – 2027-01-01${entry}## 0.3.0 – 2026-12-01${entry}`,
      false,
      /newer version 0\.10\.0/,
    ],
  ])("%s", (_, text, dryRun, expected) => {
    const check = () => checkChangelog(`# Changelog\n\n${text}`, "0.3.0", dryRun);
    if (typeof expected === "string") expect(check()).toBe(expected);
    else expect(check).toThrow(expected);
  });
});

describe("skipped tests of a release", () => {
  const files = ["test/a.test.ts"];
  const known = { notice: "a browser;", files, steps: ["tests"], reason: "there is no browser here" };
  const block = (file: string, ...lines: string[]) => ["", `${file}:`, ...lines, "(pass) another"].join("\n");

  test.each<[name: string, output: string, step: string, unexpected: string[]]>([
    ["are accepted with a listed notice", block("test/a.test.ts", "SKIPPED: a browser; none", "(skip) x"), "tests", []],
    ["are accepted in a script's own line", "test-service: SKIPPED: a browser; none", "tests", []],
    [
      "fail in another step",
      block("test/a.test.ts", "SKIPPED: a browser; none"),
      "binary",
      ["SKIPPED: a browser; none"],
    ],
    ["fail without a notice", block("test/a.test.ts", "(skip) x"), "tests", ["test/a.test.ts: (skip) x"]],
    [
      "fail in another file",
      block("test/a.test.ts", "SKIPPED: a browser; none") + block("test/b.test.ts", "(skip) y"),
      "tests",
      ["test/b.test.ts: (skip) y"],
    ],
    [
      "are not taken for skips of the last file when Bun lists them again",
      `${block("test/a.test.ts", "SKIPPED: a browser; none", "(skip) x")}${block("test/b.test.ts")}\n\n1 tests skipped:\n(skip) x`,
      "tests",
      [],
    ],
    [
      "fail after such a list",
      `${block("test/a.test.ts")}\n\n1 tests skipped:\n(skip) x\n${block("test/b.test.ts", "(skip) y")}`,
      "tests",
      ["test/b.test.ts: (skip) y"],
    ],
    ["fail with an unlisted notice", "SKIPPED: something else", "tests", ["SKIPPED: something else"]],
  ])("%s", (_, output, step, unexpected) => {
    expect(findSkips(output, step, [known]).unexpected).toEqual(unexpected);
  });

  test("are listed only for files and steps that exist", () => {
    const names = new Set(releaseSteps.map(({ name }) => name));
    for (const { files, steps } of acceptedSkips) {
      expect(steps.filter((step) => !names.has(step))).toEqual([]);
      expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
    }
  });
});

describe("the programs of a release", () => {
  const packages: string[] = Object.values(RELEASE_TOOLS);

  test("are those of the packages in CONTRIBUTING.md", () => {
    const page = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");
    const listed = /^apt-get install --no-install-recommends \\\n((?: {2}.*\n)+)/m.exec(page)?.[1] ?? "";
    expect(listed.split(/[\s\\]+/).filter((name) => name !== "")).toEqual(packages);
  });

  test("are named with their packages when they are missing, before anything is built", () => {
    expect(releaseSteps[0]?.name).toBe("tools");
    expect(checkTools(() => true, true)).toBe(`${packages.length} programs are installed`);
    expect(() => checkTools((program) => !["fish", "pdftotext"].includes(program), true)).toThrow(
      /^missing: fish, pdftotext; on Debian: apt-get install --no-install-recommends fish poppler-utils$/,
    );
    expect(() => checkTools(() => true, false)).toThrow("root");
  });
});

describe("the artefacts of a release", () => {
  const sums = (content: string) => writeFileSync(join(directory.path, "SHA256SUMS"), content);
  const digest = new Bun.CryptoHasher("sha256").update("program").digest("hex");

  test("are the files in the list of checksums, each with its own checksum", async () => {
    writeFileSync(join(directory.path, "program"), "program");
    writeFileSync(join(directory.path, "intermediate"), "");
    sums(`${digest}  program\n`);
    const artefacts = await readArtefacts(directory.path);
    expect(artefacts).toEqual([{ name: "program", bytes: 7, sha256: digest }]);
    expect(otherFiles(directory.path, artefacts)).toEqual(["intermediate"]);
    sums(`${digest}  missing\n`);
    await expect(readArtefacts(directory.path)).rejects.toThrow("missing");
    sums(`${"0".repeat(64)}  program\n`);
    await expect(readArtefacts(directory.path)).rejects.toThrow("has the SHA-256");
    sums(`${digest} program\n`);
    await expect(readArtefacts(directory.path)).rejects.toThrow("damaged line");
  });

  test("must be the same in both builds", () => {
    const file = (name: string, sha256: string): Artefact => ({ name, sha256, bytes: 1 });
    expect(() => requireSame([file("a", "1")], [file("a", "1")])).not.toThrow();
    expect(() => requireSame([file("a", "1"), file("b", "1")], [file("a", "2"), file("c", "1")])).toThrow(
      /differ: a, b, c$/,
    );
  });
});
