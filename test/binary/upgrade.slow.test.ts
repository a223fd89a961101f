import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { samplePath } from "../../harness/checkout.ts";
import { TestClient } from "../../harness/client.ts";
import { run } from "../../harness/processes.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";

/** The program of the previous release, and the new one. */
const { TEST_PREVIOUS_PROGRAM: previous, TEST_PROGRAM: current = "" } = process.env;
if (previous === undefined) console.warn("SKIPPED: the upgrade from the previous release; scripts/release runs it");

const timeout = 240_000;
/** The default limit of requests allows no faster polls. */
const POLL_MILLISECONDS = 1500;
const exported = ["txt", "srt", "vtt"] as const;

describe.skipIf(previous === undefined)("an upgrade from the program of the previous release", () => {
  const directory = temporaryDirectory();
  const servers: Subprocess[] = [];
  afterAll(async () => {
    for (const server of servers) server.kill("SIGKILL");
    await Promise.all(servers.map(({ exited }) => exited));
    directory[Symbol.dispose]();
  });
  const data = join(directory.path, "data");
  const settings = join(directory.path, "transcribe.toml");
  const environment = { PATH: process.env.PATH ?? "", HOME: directory.path, TRANSCRIBE_CONFIG: settings };

  const command = async (program: string, ...args: string[]) => {
    const { exitCode, stdout, stderr } = await run([program, ...args], { cwd: directory.path, env: environment });
    expect(exitCode, `${args.join(" ")}: ${stderr}`).toBe(0);
    return stdout;
  };
  const serve = async (program: string) => {
    const server = Bun.spawn([program, "serve"], {
      ...{ cwd: directory.path, env: environment },
      ...{ stdin: "ignore", stdout: "pipe", stderr: Bun.file(join(directory.path, "log")) },
    });
    servers.push(server);
    const reader = server.stdout.getReader();
    const decoder = new TextDecoder();
    let output = "";
    while (!output.includes("\n")) {
      const { done, value } = await reader.read();
      if (done) throw new Error(`the server does not start: ${await Bun.file(join(directory.path, "log")).text()}`);
      output += decoder.decode(value, { stream: true });
    }
    const base = /http:\/\/\S+\/api\/public\/v1/.exec(output)?.[0] ?? "";
    return { server, client: (key: string) => new TestClient(base, key, timeout) };
  };
  const stop = async (server: Subprocess) => {
    server.kill("SIGTERM");
    expect(await server.exited).toBe(0);
  };
  const exportsOf = (client: TestClient, id: string) =>
    Promise.all(
      exported.map(async (format) => {
        const response = await client.fetch(`/transcriptions/${id}/export?format=${format}`);
        expect(response.status).toBe(200);
        return await response.text();
      }),
    );

  test(
    "keeps recordings, exports, keys and settings, and completes a recording in progress",
    async () => {
      writeFileSync(
        settings,
        `[server]\nport = 0\n\n[storage]\ndata_dir = ${JSON.stringify(data)}\n\n[log]\nlevel = "warn"\n`,
      );
      const old = await serve(previous ?? "");
      await command(previous ?? "", "accounts", "create", "acme");
      const key = /"key": "(\w+)"/.exec(
        await command(previous ?? "", "keys", "create", "--account", "acme", "--json"),
      )?.[1];
      const before = old.client(key ?? "");
      const { id } = await before.create(samplePath("sample.wav"));
      const completed = await before.waitUntilEnded(id, POLL_MILLISECONDS);
      expect(completed.status).toBe("completed");
      const segments = await before.segments(id);
      const texts = await exportsOf(before, id);
      const interrupted = await before.create(samplePath("sample.wav"));
      await stop(old.server);

      const upgraded = await serve(current);
      const after = upgraded.client(key ?? "");
      // A newer version may add fields.
      expect(await after.get(id)).toMatchObject(completed);
      expect(await after.segments(id)).toEqual(segments);
      expect(await exportsOf(after, id)).toEqual(texts);
      expect((await after.waitUntilEnded(interrupted.id, POLL_MILLISECONDS)).status).toBe("completed");
      const { id: another } = await after.create(samplePath("jfk.mp3"));
      expect((await after.waitUntilEnded(another, POLL_MILLISECONDS)).status).toBe("completed");
      expect((await after.segments(another)).map(({ text }) => text).join(" ")).toContain("ask not");
      expect(readdirSync(join(data, "backups"))).toContainEqual(expect.stringMatching(/^transcribe-.*\.db$/));
      const shown = await command(current, "config", "check", settings);
      expect(shown).not.toContain("error");
      await stop(upgraded.server);
    },
    timeout,
  );

  test(
    "refuses the new database to the previous program, and names the copy to restore",
    async () => {
      const refused = await run([previous ?? "", "serve"], { cwd: directory.path, env: environment });
      expect(refused.exitCode).not.toBe(0);
      expect(refused.stderr).toMatch(/backups\/transcribe-.*\.db/);
    },
    timeout,
  );
});
