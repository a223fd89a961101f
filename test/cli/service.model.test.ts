import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { runCli, startTimeout, TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { tinyRecognizer } from "../support/tiny-recognizer.ts";
import { maybe, shape } from "./support.ts";

setDefaultTimeout(startTimeout);

const statusShape = shape({
  ready: Type.Boolean(),
  trouble: maybe(Type.String()),
  pid: maybe(Type.Integer()),
  version: maybe(Type.String()),
  origin: Type.String(),
  follows: Type.Null(),
  queue: maybe(Type.Object({ queued: Type.Integer(), processing: Type.Integer() })),
  unit: maybe(Type.Object({})),
});

function statusIn(stdout: string) {
  const parsed: unknown = JSON.parse(stdout);
  if (!Value.Check(statusShape, parsed)) throw new Error(`not a status: ${stdout}`);
  return parsed;
}

describe("transcribe service status", () => {
  test("exits with 0 while the server is ready, and prints its address", async () => {
    await using server = new TestServer(tinyRecognizer());
    await server.start();
    await server.untilReady();
    const { exitCode, stdout, stderr } = await server.cli("service", "status", "--json");
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(statusIn(stdout)).toMatchObject({
      ...{ ready: true, trouble: null, pid: server.pid, origin: server.origin },
      queue: { queued: 0, processing: 0 },
    });
    const forPeople = await server.cli("service", "status");
    expect(forPeople.stdout).toContain(`ready at ${server.origin}`);
    await server.killHard();
    const dead = await server.cli("service", "status", "--json", "--port", "1");
    expect([dead.exitCode, dead.stderr]).toEqual([1, ""]);
    expect(statusIn(dead.stdout)).toMatchObject({ ready: false, version: null, queue: null });
  });

  test("does not create a missing data directory", async () => {
    using directory = temporaryDirectory();
    const data = join(directory.path, "data");
    const { exitCode, stdout } = await runCli(["service", "status", "--data-dir", data, "--port", "1"]);
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining("no server answers at http://127.0.0.1:1")]);
    expect(existsSync(data)).toBe(false);
  });
});

describe("transcribe service install and uninstall", () => {
  const refused: [number, string[], string][] = [
    [1, ["install", "--no-start"], "scripts/build"],
    [2, ["install", "--config", "relative.toml"], "--config"],
    [2, ["install", "--data-dir", "/home/me/data"], "the service can't access /home/me/data"],
    [2, ["install", "--user", "Not A Name"], "a user's name"],
    [2, ["install", "--binary", "/x"], "--binary"],
    [2, ["uninstall", "--purge"], "--yes"],
    [2, ["nonsense"], "unknown command"],
  ];
  for (const [exitCode, args, why] of refused) {
    test(`exit with ${exitCode} after ${args.join(" ")}`, async () => {
      using directory = temporaryDirectory();
      // A command that does not refuse changes only this tree.
      const elsewhere = args[0] === "nonsense" ? [] : ["--root", directory.path];
      const result = await runCli(["service", ...args, ...elsewhere]);
      expect([result.exitCode, result.stdout, result.stderr]).toEqual([exitCode, "", expect.stringContaining(why)]);
      expect(result.stderr).not.toMatch(/\n\s+at /);
      expect(readdirSync(directory.path)).toEqual([]);
    });
  }
});
