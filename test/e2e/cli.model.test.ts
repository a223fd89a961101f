import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { available, samplePath } from "../../harness/checkout.ts";
import { errorOf, spokenText } from "../../harness/client.ts";
import type { Segment } from "../../harness/contract.ts";
import { isAlive } from "../../harness/processes.ts";
import { runCli, startTimeout, TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";

const jfk = samplePath("jfk.mp3");
const ready = available("e2e tests of the CLI", jfk);
const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe.if(ready)("the CLI next to a running server", () => {
  const server = new TestServer();
  beforeAll(() => server.start(), startTimeout);
  afterAll(() => server[Symbol.asyncDispose]());

  const json = async (...args: string[]): Promise<unknown> => {
    const { exitCode, stdout, stderr } = await server.cli(...args, "--json");
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    return JSON.parse(stdout);
  };

  test("creates an account and a key, lists the key without its secret, and revokes it", async () => {
    const account = await json("accounts", "create", "desk");
    expect(account).toEqual({
      id: expect.any(String),
      name: "desk",
      standing: "active",
      subscribed_until: null,
      retention: { audio_days: null, completed_days: null },
      vocabulary: null,
      voices: false,
      priority: 0,
      limits: {},
      created_at: instant,
    });
    const made = await json("keys", "create", "--account", "desk", "--name", "for a test");
    const { key: secret, ...shown } = made as { key: string; id: string };
    expect(secret).toMatch(/^trs_[0-9A-Za-z]{49}$/);
    const { id: accountId } = account as { id: string };
    const hint = secret.slice(0, 10);
    const listed = {
      id: shown.id,
      account_id: accountId,
      workspace_id: null,
      name: "for a test",
      hint,
      scopes: ["transcriptions:read", "transcriptions:write", "transcriptions:delete"],
      created_at: instant,
      last_used_at: null,
      expires_at: null,
    };
    expect(shown as object).toEqual({ ...listed, revoked_at: null });
    expect(await json("keys", "list", "--account", "desk")).toEqual([{ ...listed, revoked_at: null }]);

    const ask = () => fetch(`${server.baseUrl}/languages`, { headers: { authorization: `Bearer ${secret}` } });
    expect((await ask()).status).toBe(200);
    expect(await json("keys", "revoke", shown.id)).toEqual({ ...listed, revoked_at: instant });
    expect((await errorOf(await ask(), 401)).error).toBe("invalid_api_key");
  }, 60_000);

  test("submit --wait --json prints only the transcription with its segments on standard output", async () => {
    const { key } = server.client("submitting");
    const args = ["submit", jfk, "--server", server.origin, "--language", "en", "--every", "0.2", "--wait", "--json"];
    const { exitCode, stdout, stderr } = await runCli(args, { TRANSCRIBE_API_KEY: key });
    expect([exitCode, stderr]).toEqual([0, ""]);
    const [printed] = JSON.parse(stdout) as { input: string; transcription: object; segments: Segment[] }[];
    expect(printed).toMatchObject({ input: jfk, output: null, error: null });
    expect(printed?.transcription).toMatchObject({ status: "completed", language: "en", duration_seconds: 11 });
    expect(spokenText(printed?.segments ?? [])).toContain("ask not what your country can do for you");
  }, 120_000);

  test("reports the cause of a failure on standard error without a stack, and exits with 1, or with 2 after a usage error", async () => {
    const cases: [exitCode: number, args: string[], message: string][] = [
      [1, ["accounts", "create", "desk"], "an account named desk exists already"],
      [5, ["submit", jfk, "--server", server.origin], "TRANSCRIBE_API_KEY"],
      [2, ["submit", jfk, "--key", "x", "--server", server.origin], "unknown option '--key'"],
      [2, ["accounts", "destroy"], ""],
      [2, ["serve", "--port", "http"], "--port"],
      [2, ["serve", "--no-such-flag"], "--no-such-flag"],
    ];
    // test/cli/exit-codes.integration.test.ts has the other commands.
    for (const [expected, args, message] of cases) {
      const { exitCode, stdout, stderr } = await server.cli(...args);
      expect([args, exitCode, stdout]).toEqual([args, expected, ""]);
      expect(stderr).toContain(message);
      expect(stderr).not.toMatch(/^\s+at /m);
    }
  }, 60_000);
});

describe.if(ready)("quickstart", () => {
  test("starts a server and prints the transcript, and reuses the server and the key the second time", async () => {
    using directory = temporaryDirectory();
    const args = ["quickstart", jfk, "--language", "en", "--data-dir", directory.path, "--port", "0"];
    const running = () => {
      const text = readFileSync(join(directory.path, "state/server.json"), "utf8");
      return JSON.parse(text) as { pid: number; origin: string };
    };
    const key = () => readFileSync(join(directory.path, "first-key"), "utf8");
    try {
      const first = await runCli(args);
      expect(first.exitCode).toBe(0);
      expect(first.stdout.replaceAll(/\s+/g, " ")).toContain("what your country can do for you");
      const [server, firstKey] = [running(), key()];
      expect(first.stderr).toContain(`kill ${server.pid}`);
      expect(first.stderr + first.stdout).not.toContain(firstKey.trim());

      const second = await runCli(args);
      expect(second.exitCode).toBe(0);
      expect(second.stdout.replaceAll(/\s+/g, " ")).toContain("what your country can do for you");
      expect(second.stderr).not.toContain("starting the server");
      expect([running(), key()]).toEqual([server, firstKey]);
    } finally {
      // The server keeps running after the command by design.
      const { pid } = running();
      process.kill(pid, "SIGTERM");
      while (isAlive(pid)) await Bun.sleep(20);
    }
  }, 180_000);
});
