import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { available, samplePath } from "../support/checkout.ts";
import { startTimeout, TestServer } from "../support/server.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { blocksOf, pageNamed } from "./pages.ts";

const jfk = samplePath("jfk.mp3");
const ready = available("examples of docs/api.md", jfk);

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
  async function run(name: string, ...command: readonly string[]) {
    const { key, baseUrl } = server.client(name);
    const directory = join(folder.path, name);
    const child = Bun.spawn([...command], {
      cwd: directory,
      env: { PATH: process.env.PATH, LANG: "C.UTF-8", API: baseUrl, KEY: key },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [printed, errors, exitCode] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    expect([exitCode, errors]).toEqual([0, ""]);
    return { printed, directory, key };
  }

  function prepare(name: string, file: string, text: string): string {
    mkdirSync(join(folder.path, name));
    copyFileSync(jfk, join(folder.path, name, "meeting.mp3"));
    const path = join(folder.path, name, file);
    writeFileSync(path, text);
    return path;
  }

  test.if(has("bash", "curl", "jq")).concurrent(
    "work with curl, from the upload to the deletion",
    async () => {
      const blocks = inLanguage("sh");
      expect(blocks.length).toBeGreaterThan(4);
      const script = prepare("curl", "example.sh", `set -euo pipefail\n${blocks.join("\n")}`);
      const { printed, directory, key } = await run("curl", "bash", script);
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

  test.concurrent("work in TypeScript", async () => {
    const [text = "", ...others] = inLanguage("ts");
    expect(others).toEqual([]);
    const program = prepare("typescript", "transcribe.mts", text);
    const { printed } = await run("typescript", process.execPath, program, "meeting.mp3");
    expect(spoken(printed)).toContain(address);
  }, 120_000);

  test.if(has("python3")).concurrent(
    "work in Python with its standard library",
    async () => {
      const [text = "", ...others] = inLanguage("python");
      expect(others).toEqual([]);
      const program = prepare("python", "transcribe.py", text);
      const { printed } = await run("python", "python3", "-I", program, "meeting.mp3");
      expect(spoken(printed)).toContain(address);
    },
    120_000,
  );
});
