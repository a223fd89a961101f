import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { available, samplePath } from "../../harness/checkout.ts";
import { startTimeout, TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { installPythonSdk, installTypescriptSdk, writeScript } from "../support/sdk.ts";
import { blocksOf, pageNamed } from "./pages.ts";

const jfk = samplePath("jfk.mp3");
const ready = available("examples of docs/api.md", jfk);

const packages = temporaryDirectory();
const runtimes = ready
  ? [...(await installTypescriptSdk(packages.path)), ...(await installPythonSdk(packages.path))]
  : [];
afterAll(() => packages[Symbol.dispose]());

const examples = blocksOf(pageNamed("docs/api.md")).filter((block) => block.run);
const inLanguage = (language: string) =>
  examples.filter((block) => block.language === language).map(({ text }) => text);

function has(...programs: readonly string[]): boolean {
  const missing = programs.filter((program) => Bun.which(program) === null);
  if (missing.length > 0) console.warn(`SKIPPED: examples of docs/api.md; there is no ${missing.join(", ")}`);
  return missing.length === 0;
}

/** Joins the texts of one speaker from lines of `start, speaker, text`. */
function spoken(printed: string): string {
  const texts = printed.split("\n").map((line) => /^\d+(?:\.\d+)?\tA\t(.+)$/.exec(line)?.[1] ?? "");
  return texts.filter((text) => text !== "").join(" ");
}

const address = "ask not what your country can do for you, ask what you can do for your country";

describe.if(ready)("the examples of docs/api.md", () => {
  const server = new TestServer();
  const folder = temporaryDirectory();

  beforeAll(async () => {
    await server.start();
  }, startTimeout);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  /** Runs an example in its own folder with its own account. */
  async function run(name: string, environment: Readonly<Record<string, string>>, ...command: readonly string[]) {
    const { key, baseUrl } = server.client(name);
    const directory = join(folder.path, name);
    const child = Bun.spawn([...command], {
      cwd: directory,
      env: { PATH: process.env.PATH, LANG: "C.UTF-8", API: baseUrl, KEY: key, ...environment },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [printed, errors, exitCode] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    expect([exitCode, exitCode === 0 ? "" : errors]).toEqual([0, ""]);
    return { printed, errors, directory, key };
  }

  function prepareFolder(name: string): void {
    mkdirSync(join(folder.path, name));
    copyFileSync(jfk, join(folder.path, name, "meeting.mp3"));
  }

  test.if(has("bash", "curl", "jq")).concurrent(
    "work with curl, from the upload to the deletion",
    async () => {
      const blocks = inLanguage("sh");
      expect(blocks.length).toBeGreaterThan(4);
      prepareFolder("curl");
      const script = join(folder.path, "example.sh");
      writeFileSync(script, `set -euo pipefail\n${blocks.join("\n")}`);
      const { printed, errors, directory, key } = await run("curl", {}, "bash", script);
      expect(errors).toBe("");
      expect(spoken(printed)).toContain(address);
      expect(printed).toMatch(/^\["completed",null,100\]$/m);
      expect(readFileSync(join(directory, "meeting.srt"), "utf8")).toContain("what your country");
      expect(readFileSync(join(directory, "meeting.docx")).subarray(0, 2).toString()).toBe("PK");
      const id = printed.trim().split("\n").at(-1) ?? "";
      expect(id).toMatch(/^[0-9a-f-]{36}$/);
      const gone = await fetch(`${server.baseUrl}/transcriptions/${id}`, {
        headers: { Authorization: `Bearer ${key}` },
      });
      expect(gone.status).toBe(404);
    },
    120_000,
  );

  test.each(runtimes.map((runtime) => [runtime.name, runtime] as const)).concurrent(
    "work with the client package in %s",
    async (name, runtime) => {
      const [program = "", steps = "", ...others] = inLanguage(runtime.language);
      expect(others).toEqual([]);
      prepareFolder(name);
      const script = writeScript(runtime, packages.path, "example", `${program}\n${steps}`);
      const command = [runtime.program, script, "meeting.mp3"];
      const { printed, errors, directory, key } = await run(name, runtime.environment, ...command);
      expect(spoken(printed)).toContain(address);
      expect(readFileSync(join(directory, "meeting.srt"), "utf8")).toContain("what your country");
      expect(errors).toMatch(/^\d+ words$/m);
      const listed = [...errors.matchAll(/^(\S{36}) completed$/gm)].map((match) => match[1]);
      expect(listed).toHaveLength(2);
      const page = await fetch(`${server.baseUrl}/transcriptions`, { headers: { Authorization: `Bearer ${key}` } });
      expect(((await page.json()) as { data: unknown[] }).data).toHaveLength(1);
    },
    120_000,
  );
});
