import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { root } from "../../harness/checkout.ts";
import { runCli } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { Commands } from "./support.ts";

setDefaultTimeout(60_000);

/** Command lines with their exit codes. wrong-command-lines.test.ts has more wrong ones. */
describe("exit codes", () => {
  const directory = temporaryDirectory();
  const commands = new Commands(join(directory.path, "data"));
  beforeAll(() => commands.run("accounts", "create", "acme"));
  afterAll(() => directory[Symbol.dispose]());
  const nowhere = Bun.randomUUIDv7();

  const rows: [number, string[], string][] = [
    [2, ["nonsense"], "unknown command"],
    [2, ["accounts", "create", "a", "b"], "too many arguments"],
    [2, ["keys", "create", "--account", "acme", "--expires", "7x"], "--expires"],
    [2, ["users", "create", "anna@example.org"], "--role"],
    [2, ["recordings", "list", "--status", "foo"], "queued, processing, completed, failed"],
    [2, ["accounts", "set", "acme"], "--standing"],
    [2, ["accounts", "list", "--config", "/no/such/file.toml"], "/no/such/file.toml"],
    [1, ["accounts", "create", "acme"], "already"],
    [1, ["accounts", "set", "nobody", "--priority", "1"], "transcribe accounts create nobody"],
    [1, ["accounts", "limits", "nobody"], "nobody"],
    [1, ["accounts", "delete", "nobody", "--yes"], "nobody"],
    [1, ["workspaces", "delete", "sales", "--account", "acme"], "transcribe workspaces create sales"],
    [1, ["keys", "create", "--account", "nobody"], "nobody"],
    [1, ["keys", "create", "--account", "acme", "--workspace", "sales"], "sales"],
    [1, ["keys", "rotate", nowhere], "transcribe keys list"],
    [1, ["keys", "revoke", nowhere], "transcribe keys list"],
    [1, ["recordings", "show", nowhere], "transcribe recordings list"],
    [1, ["recordings", "hold", nowhere], "transcribe recordings list"],
    [0, ["accounts", "--help"], ""],
    [0, ["accounts", "list"], ""],
    [0, ["audit"], ""],
  ];
  for (const [exitCode, args, why] of rows) {
    test(`transcribe ${args.join(" ").replace(nowhere, "ID")} exits with ${exitCode}`, async () => {
      const result = await commands.run(...args);
      expect([result.exitCode, result.stderr]).toEqual([exitCode, expect.stringContaining(why)]);
      expect(result.stderr).not.toMatch(/\n\s+at |SQLITE|\.ts:/);
      if (exitCode === 0) expect(result.stderr).toBe("");
      else expect(result.stdout).toBe("");
      expect(result.stderr + result.stdout).not.toContain(root);
    });
  }

  test.each([
    [0, ["accounts", "list"]],
    [1, ["accounts", "create", "acme"]],
    [2, ["nonsense"]],
  ])("%d is also that of the process, which prints the same", async (exitCode, args) => {
    const here = await commands.run(...args);
    const process = await new Commands(join(directory.path, "data"), runCli).run(...args);
    expect([process, process.exitCode]).toEqual([here, exitCode]);
  });

  test("a refused command has no entry in the audit log", async () => {
    const { stdout } = await commands.run("audit");
    expect(stdout.trim().split("\n")).toHaveLength(2);
  });
});
