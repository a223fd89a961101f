import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ModelEntry } from "../../../src/models/index.ts";
import { ModelUnavailableError, obtainModel } from "../../../tools/models/obtain-model.ts";

const CONTENT = "the weights";
const OFFICIAL = "THE WEIGHTS";
const hash = (algorithm: "sha256" | "sha1", text: string) => new Bun.CryptoHasher(algorithm).update(text).digest("hex");

let base: string;
let lines: string[];
let server: ReturnType<typeof Bun.serve> | undefined;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "transcribe-models-"));
  lines = [];
});

afterEach(async () => {
  await server?.stop(true);
  server = undefined;
  await rm(base, { recursive: true });
});

function entry(...sources: ModelEntry["sources"]): ModelEntry {
  const sha256 = hash("sha256", CONTENT);
  return { id: "m", kind: "speech", file: "m.bin", bytes: CONTENT.length, sha256, licence: "MIT", sources };
}

/** Returns a source that publishes the SHA-1 of OFFICIAL and whose server sends `answer`. */
function downloadOf(answer: () => Response): ModelEntry["sources"][number] {
  server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
  return { type: "download", url: `${server.url}m.bin`, sha1: hash("sha1", OFFICIAL) };
}

async function folderWith(name: string, content: string): Promise<string> {
  await mkdir(join(base, name));
  await writeFile(join(base, name, "m.bin"), content);
  return join(base, name);
}

async function obtain(model: ModelEntry, ...folders: string[]): Promise<string> {
  const cacheRoot = join(base, "cache");
  const path = await obtainModel(model, {
    cacheRoot,
    repositoryFolder: join(base, "repository"),
    folders,
    log: (line) => lines.push(line),
  });
  expect(await readdir(join(cacheRoot, "tmp")).catch(() => [])).toEqual([]);
  return await Bun.file(path).text();
}

const folder = { type: "folder" } as const;

describe("a model", () => {
  test("comes from the first folder that has it, and from the cache after that", async () => {
    const there = await folderWith("there", CONTENT);
    expect(await obtain(entry(folder), join(base, "missing"), there)).toBe(CONTENT);
    expect(lines).toEqual(["m: from a local folder"]);
    await rm(there, { recursive: true });
    expect(await obtain(entry(folder))).toBe(CONTENT);
  });

  test("is accepted from a folder in the published form too", async () => {
    const source = downloadOf(() => new Response("never asked", { status: 500 }));
    expect(await obtain(entry(folder, source), await folderWith("there", OFFICIAL))).toBe(OFFICIAL);
  });

  test("comes from the next folder when the first has another file of that name", async () => {
    const [bad, good] = [await folderWith("bad", "the w3ights"), await folderWith("good", CONTENT)];
    expect(await obtain(entry(folder), bad, good)).toBe(CONTENT);
  });

  test("comes from the official download when no folder has it, checked against the publisher's digest", async () => {
    expect(
      await obtain(
        entry(
          folder,
          downloadOf(() => new Response(OFFICIAL)),
        ),
      ),
    ).toBe(OFFICIAL);
    expect(lines).toEqual([
      "m: not from a local folder: no folder is configured",
      "m: from the official download (127.0.0.1)",
    ]);
  });

  test.each([
    ["other content", () => new Response("THE W3IGHTS"), /none of the digests published for it/],
    ["more bytes than published", () => new Response(`${OFFICIAL}!`), /another size/],
    ["fewer bytes than published", () => new Response("THE"), /another size/],
    ["a refusal", () => new Response("no", { status: 403 }), /answered 403/],
  ])("comes from the next source when the download has %s, and the reason is logged", async (_, answer, reason) => {
    const there = await folderWith("there", CONTENT);
    expect(await obtain(entry(downloadOf(answer), folder), there)).toBe(CONTENT);
    expect(lines[0]).toMatch(reason);
    expect(lines[1]).toBe("m: from a local folder");
  });

  test("comes from the next source when the download server can't be reached", async () => {
    // Nothing listens on port 9. A port that was free a moment ago may be another process's.
    const source = { type: "download", url: "http://127.0.0.1:9/m.bin", sha1: hash("sha1", OFFICIAL) } as const;
    expect(await obtain(entry(source, folder), await folderWith("there", CONTENT))).toBe(CONTENT);
    expect(lines[0]).toMatch(/can't be reached/);
  });

  test("is fetched again when the cached copy is damaged", async () => {
    const there = await folderWith("there", CONTENT);
    await obtain(entry(folder), there);
    const kept = join(base, "cache/models", `sha256-${hash("sha256", CONTENT)}`, "m.bin");
    await writeFile(kept, "the w3ights");
    expect(await obtain(entry(folder), there)).toBe(CONTENT);
    expect(lines).toContain("m: the cached copy is damaged and was removed");
  });

  test("is the same for callers that obtain it at the same time", async () => {
    const there = await folderWith("there", CONTENT);
    const options = { cacheRoot: join(base, "cache"), repositoryFolder: base, folders: [there], log: () => {} };
    const paths = await Promise.all(Array.from({ length: 8 }, () => obtainModel(entry(folder), options)));
    expect(new Set(paths).size).toBe(1);
    expect(await Bun.file(paths[0] ?? "").text()).toBe(CONTENT);
    expect(await readdir(join(base, "cache/models"))).toHaveLength(1);
  });

  test("of the repository is used in place, and refused when it was changed", async () => {
    await folderWith("repository", CONTENT);
    expect(await obtain(entry({ type: "repository" }))).toBe(CONTENT);
    await writeFile(join(base, "repository/m.bin"), "the w3ights");
    await expect(obtain(entry({ type: "repository" }))).rejects.toThrow(/does not have the catalogue's digest/);
  });

  test("that no source has is refused with the reason of each source", async () => {
    const source = downloadOf(() => new Response("no", { status: 404 }));
    const attempt = obtain(entry(folder, source));
    await expect(attempt).rejects.toThrow(ModelUnavailableError);
    await expect(attempt).rejects.toThrow(/a local folder: no folder is configured; .*answered 404/);
  });
});
