import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { programCommand } from "../../harness/program.ts";
import { environmentWith } from "../../harness/server.ts";
import { canMount } from "../../harness/small-disk.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { openDatabase, tables } from "../../src/database/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { Commands, maybe, shape } from "./support.ts";

setDefaultTimeout(60_000);

const maybeText = maybe(Type.String());
const folderShape = shape({
  ...{ id: Type.String(), path: Type.String(), target: maybeText },
  ...{ account_id: Type.String(), account: maybeText, workspace_id: maybeText },
  ...{ formats: Type.Array(Type.String()), language: maybeText, translated: Type.Boolean() },
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
});

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
    const translated = await commands.run("folders", "add", path, "--account", "acme", "--translate");
    expect(translated.stdout).toBe(`changed ${path}\n  translation: to English (was none)\n`);
    expect(await commands.json(Type.Array(folderShape), "folders", "list")).toMatchObject([{ translated: true }]);
    const kept = await commands.run("folders", "add", path, "--account", "acme");
    expect(kept.stdout).toContain("nothing was changed");
    const not = await commands.run("folders", "add", path, "--account", "acme", "--no-translate");
    expect(not.stdout).toBe(`changed ${path}\n  translation: none (was to English)\n`);
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

  test.skipIf(!canMount)("refuses directories of the system as root, by whatever path, and asks about files", () => {
    const at = (name: string) => join(root, name);
    for (const name of ["bound", "full", "conf", "conf/in"]) mkdirSync(at(name));
    writeFileSync(at("conf/transcribe.toml"), "");
    // The directories of this machine are covered in a mount namespace.
    const setUp = `
      for path in /etc /var/lib /srv '${at("full")}'; do mount -t tmpfs tmpfs "$path"; done
      for n in $(seq 70); do echo text >/etc/file$n; echo text >'${at("full")}'/file$n; done
      mkdir -p /etc/x /var/lib/x/incoming /srv/x
      mount --bind /etc/x '${at("bound")}'
      ln -s /etc '${at("link")}'
      files=$(find /etc | sort)
      for path in /etc /etc/x '${at("link")}' '${at("bound")}' '${at("conf")}' '${at("full")}'; do
        if "$@" folders add "$path" --account acme; then echo "accepted $path"; fi
      done
      "$@" folders add '${at("full")}' --account acme --files 69 || true
      "$@" folders add '${at("full")}' --account acme --files 70
      "$@" folders add /srv/x --account acme --to /etc/x || true
      for path in /var/lib/x/incoming /srv/x '${at("conf/in")}'; do "$@" folders add "$path" --account acme; done
      if [ "$files" = "$(find /etc | sort)" ]; then echo unchanged; fi`;
    const command = programCommand();
    const { stdout, stderr, exitCode } = Bun.spawnSync(["unshare", "--mount", "sh", "-euc", setUp, "sh", ...command], {
      env: environmentWith({ TRANSCRIBE_DATA_DIR: at("data"), TRANSCRIBE_CONFIG: at("conf/transcribe.toml") }),
    });
    const lines = stderr.toString().split("\n");
    const refusals = lines.filter((line) => line.startsWith("transcribe: "));
    const system = /a directory of the operating system; choose a directory that only holds recordings/;
    const expected = [
      ...[system, system, system, system],
      /conf\/transcribe\.toml, the settings file, contain one another/,
      /holds 70 files that are no recordings \("file1", "file10", "file11", …\).*--files 70$/,
      /holds 70 files that are no recordings, not 69 .*--files 70$/,
      /^transcribe: \/etc\/x is in \/etc, a directory/,
    ];
    expect(refusals).toEqual(expected.map((reason) => expect.stringMatching(reason)));
    const watched = [at("full"), "/var/lib/x/incoming", "/srv/x", at("conf/in")];
    expect([stdout.toString(), exitCode]).toEqual([
      `${watched.map((each) => `watching ${each}\n`).join("")}unchanged\n`,
      0,
    ]);
  });
});
