import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { createAccount, readAudit } from "../../src/accounts/index.ts";
import { openDatabase } from "../../src/database/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { Commands, shape } from "./support.ts";

setDefaultTimeout(60_000);

const entryShape = shape({
  ...{ id: Type.String(), account_id: Type.String(), words: Type.String(), text: Type.String() },
  ...{ match_case: Type.Boolean(), created_at: Type.String(), created_by: Type.String() },
});

describe("transcribe replacements", () => {
  const directory = temporaryDirectory();
  const store = openDatabase(new DataDirectory(directory.path).databasePath);
  createAccount(store, "acme", { actor: "operator", now: 1 });
  const commands = new Commands(directory.path);
  afterAll(() => {
    store.$client.close();
    directory[Symbol.dispose]();
  });
  const list = async () => {
    const entries = await commands.json(Type.Array(entryShape), "replacements", "list", "--account", "acme");
    return entries.map(({ words, text, match_case }) => [words, text, match_case]);
  };

  test("adds an entry, changes the one of the same words, lists and removes it", async () => {
    const add = (...args: string[]) => commands.json(entryShape, "replacements", "add", ...args, "--account", "acme");
    expect(await add("kuber  netes", "Kubernetes")).toMatchObject({ words: "kuber netes", text: "Kubernetes" });
    const changed = await add("Kuber Netes", "K8s");
    await add("US", "USA", "--match-case");
    expect(await list()).toEqual([
      ["Kuber Netes", "K8s", false],
      ["US", "USA", true],
    ]);
    const { stdout } = await commands.run("replacements", "list", "--account", "acme");
    expect(stdout).toMatch(/WORDS +WRITTEN AS +CASE/);
    await commands.run("replacements", "remove", changed.id);
    expect(await list()).toEqual([["US", "USA", true]]);
    expect(await commands.refusal("replacements", "remove", changed.id)).toContain("transcribe replacements list");
    const log = readAudit(store, 10).map(({ action }) => action);
    expect(log.slice(0, 4)).toEqual(["replacements.remove", ...Array<string>(3).fill("replacements.add")]);
    // The words are meant for the account's recordings alone.
    expect(JSON.stringify(readAudit(store, 10))).not.toMatch(/netes|K8s|USA/i);
  });

  test("imports a file as a whole, or nothing of it", async () => {
    const path = join(directory.path, "list.txt");
    writeFileSync(path, "\uFEFF# names\r\njon => John Smith\r\n\r\nc plus plus\tC++\nus=>USA\n");
    const run = (...args: string[]) => commands.run("replacements", "import", path, "--account", "acme", ...args);
    expect((await run()).stdout).toBe("imported 3 replacements for acme\n");
    expect(await list()).toEqual([
      ["US", "USA", true],
      ["jon", "John Smith", false],
      ["c plus plus", "C++", false],
      ["us", "USA", false],
    ]);
    writeFileSync(path, "one => 1\n\ntwo 2\n");
    const refused = await commands.refusal("replacements", "import", path, "--account", "acme", "--replace-all");
    expect(refused).toContain("line 3: write the words");
    expect(await list()).toHaveLength(4);
    writeFileSync(path, Array.from({ length: 1001 }, (_, index) => `word${index} => text`).join("\n"));
    expect(await commands.refusal("replacements", "import", path, "--account", "acme", "--replace-all")).toContain(
      "an account can have 1000 replacements, and would have 1001",
    );
    writeFileSync(path, "only => this\n");
    await run("--replace-all");
    expect(await list()).toEqual([["only", "this", false]]);
  });
});
