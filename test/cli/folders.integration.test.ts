import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { DataDirectory, openDatabase, tables } from "../../src/storage/index.ts";
import { Commands } from "./support.ts";

setDefaultTimeout(60_000);

const maybeText = Type.Union([Type.String(), Type.Null()]);
const folderShape = Type.Object(
  {
    ...{ id: Type.String(), path: Type.String(), target: maybeText },
    ...{ account_id: Type.String(), account: maybeText, workspace_id: maybeText },
    ...{ formats: Type.Array(Type.String()), language: maybeText },
    incomplete: Type.Array(Type.Object({ name: Type.String(), reason: Type.String(), meaning: Type.String() })),
    ...{ waiting: Type.Integer(), in_progress: Type.Integer(), not_read: Type.Integer() },
    ...{ done: Type.Integer(), failed: Type.Integer() },
    ...{ hindrance: maybeText, meaning: maybeText, advice: maybeText, hindered_since: maybeText },
    ...{ last_visit: maybeText, created_at: Type.String() },
    files: Type.Array(
      Type.Object({
        ...{ name: Type.String(), state: Type.String(), recording_id: maybeText },
        ...{ retry_at: maybeText, taken_at: Type.String() },
      }),
    ),
  },
  { additionalProperties: false },
);

describe("transcribe folders", () => {
  const directory = temporaryDirectory();
  const root = realpathSync(directory.path);
  const commands = new Commands(join(root, "data"));
  const path = join(root, "in");
  afterAll(() => directory[Symbol.dispose]());
  beforeAll(async () => {
    mkdirSync(path);
    mkdirSync(join(root, "out"));
    for (const args of [
      ["accounts", "create", "acme"],
      ["workspaces", "create", "legal", "--account", "acme"],
    ]) {
      expect((await commands.run(...args)).exitCode).toBe(0);
    }
  });

  test("adds a folder without a server, lists and changes it, and removes it", async () => {
    expect((await commands.run("folders", "list")).stdout).toContain("no folders; watch one with");
    const first = await commands.run("folders", "add", `${path}/`, "--account", "acme", "--format", "SRT, docx,srt");
    expect([first.exitCode, first.stdout]).toEqual([0, `watching ${path}\n`]);
    expect(first.stderr).toContain("no server is running");
    const options = ["--workspace", "legal", "--to", join(root, "out"), "--language", "EN"];
    const changed = await commands.json(folderShape, "folders", "add", path, "--account", "acme", ...options);
    expect(changed).toMatchObject({
      path,
      target: join(root, "out"),
      formats: ["srt", "docx"],
      language: "en",
      account: "acme",
    });
    const same = await commands.run("folders", "add", path, "--account", "acme");
    expect(same.stdout).toBe(`${path} is watched already; nothing was changed\n`);
    const listed = await commands.json(Type.Array(folderShape), "folders", "list");
    expect(listed).toEqual([changed]);
    {
      const store = openDatabase(new DataDirectory(join(root, "data")).databasePath);
      const incomplete = JSON.stringify([{ name: "half\n.mp3", doubt: "zeros" }]);
      store.update(tables.folders).set({ waiting: 2, incomplete, unread: 3 }).run();
      store.$client.close();
    }
    const [waiting] = await commands.json(Type.Array(folderShape), "folders", "list");
    expect(waiting?.incomplete).toEqual([
      { name: "half\n.mp3", reason: "zeros", meaning: expect.stringContaining("ends with zeros") },
    ]);
    const shown = await commands.run("folders", "list");
    expect(shown.stdout).toMatch(/WAITING +INCOMPLETE[\s\S]* 2 +1 +0 /);
    expect(shown.stderr).toContain("not read are subfolders, and files whose names are not UTF-8; rename those files");
    const reset = await commands.run("folders", "add", path, "--account", "acme", "--language", "", "--format", "txt");
    expect(reset.stdout).toBe(`changed ${path}\n  formats: txt (was srt,docx)\n  language: detected (was en)\n`);
    chmodSync(path, 0o1777);
    expect((await commands.run("folders", "add", path, "--account", "acme")).stderr).toContain(`chmod -t ${path}`);
    expect((await commands.run("folders", "list")).stdout).toMatch(
      /WAITING +INCOMPLETE +IN PROGRESS[\s\S]*not visited yet/,
    );
    expect(await commands.refusal("workspaces", "delete", "legal", "--account", "acme")).toContain("folders");
    expect((await commands.run("folders", "remove", path)).stdout).toContain("its files stay");
    expect(existsSync(join(path, ".transcribe-folder"))).toBe(false);
  });

  test("refuses what can't be watched, with what to do", async () => {
    const add = ["folders", "add"];
    const forAcme = ["--account", "acme"];
    expect(await commands.refusal(...add, path, "--account", "nobody")).toContain("accounts create nobody");
    expect(await commands.refusal(...add, join(root, "data"), ...forAcme)).toContain("data directory");
    expect(await commands.usageError(...add, "in", ...forAcme)).toContain("absolute");
    const missing = await commands.refusal(...add, join(root, "none"), ...forAcme);
    expect(missing).toContain("there is no such directory; create it, or mount it");
    expect(missing).not.toContain("ENOENT");
    for (const [options, message] of [
      [["--format", "mp3"], /"mp3" is none of: txt, srt/],
      [["--language", "xx"], /does not know the language xx; it knows .*\ben\b/],
    ] as const) {
      const { exitCode, stderr } = await commands.run(...add, path, ...forAcme, ...options);
      expect([exitCode, stderr]).toEqual([2, expect.stringMatching(message)]);
    }
    expect((await commands.run(...add, path)).exitCode).toBe(2);
    expect(await commands.refusal("folders", "remove", path)).toContain("folders list");
    expect(await commands.json(Type.Array(folderShape), "folders", "list")).toEqual([]);
  });
});
