import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, chownSync, lchownSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { resultOf } from "../../harness/processes.ts";
import { programCommand } from "../../harness/program.ts";
import { runCli } from "../../harness/server.ts";
import { canMount } from "../../harness/small-disk.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { Commands, shapes } from "./support.ts";

// Each command is a separate process, which starts slowly on a busy machine.
setDefaultTimeout(60_000);

const isRoot = process.geteuid?.() === 0;
if (!isRoot) console.warn("SKIPPED: root in a data directory of another user; it takes root");

const stranger = 54_321;

function give(path: string): void {
  lchownSync(path, stranger, stranger);
  if (!lstatSync(path).isDirectory()) return;
  for (const name of readdirSync(path)) give(join(path, name));
}

/** A directory that the stranger can traverse. */
function openDirectory() {
  const directory = temporaryDirectory();
  chmodSync(directory.path, 0o755);
  return directory;
}

describe.skipIf(!isRoot)("a command of root in the data directory of the service's user", () => {
  test("creates files of that user, and is in the audit log as root", async () => {
    using parent = openDirectory();
    const { root } = new DataDirectory(join(parent.path, "data"));
    give(root);
    const commands = new Commands(root, runCli);
    await commands.json(shapes.account, "accounts", "create", "acme");
    const owners = readdirSync(root, { recursive: true }).map((name) => lstatSync(join(root, String(name))).uid);
    expect(owners.length).toBeGreaterThan(4);
    expect(new Set(owners)).toEqual(new Set([stranger]));
    expect((await commands.run("audit")).stdout).not.toContain(String(stranger));
  });

  test("does nothing in a stranger's directory", async () => {
    using parent = temporaryDirectory();
    const { root } = new DataDirectory(join(parent.path, "data"));
    give(root);
    const recording = join(parent.path, "recording.wav");
    writeFileSync(recording, "");
    expect(await new Commands(root, runCli).refusal("quickstart", recording)).toContain("belongs to another user");
    expect(readdirSync(root)).not.toContain("first-key");
  });
});

describe.skipIf(!isRoot)("a data directory in the client's current directory", () => {
  const cases: [string, number, string][] = [
    ["of a stranger has no say in where the key goes", stranger, "settings"],
    ["of this user names the server", 0, "note"],
  ];
  test.each(cases)("%s", async (_, owner, expected) => {
    using parent = temporaryDirectory();
    const asked: string[] = [];
    const listen = (name: string) =>
      Bun.serve({
        hostname: "127.0.0.1",
        port: 0,
        fetch(request) {
          if (request.headers.has("authorization")) asked.push(name);
          const isProbe = new URL(request.url).pathname === "/healthz";
          return isProbe
            ? new Response("")
            : Response.json({ error: "invalid_api_key", message: "no" }, { status: 401 });
        },
      });
    const [note, settings] = [listen("note"), listen("settings")];
    try {
      const paths = new DataDirectory(join(parent.path, "data"));
      const server = { pid: 1, version: "0", origin: note.url.origin, modelSetting: "", certificate: null };
      writeFileSync(join(paths.state, "server.json"), JSON.stringify(server));
      chownSync(join(paths.state, "server.json"), owner, owner);
      chmodSync(join(paths.state, "server.json"), 0o644);
      const child = Bun.spawn(programCommand("list"), {
        cwd: parent.path,
        env: {
          PATH: process.env.PATH,
          TRANSCRIBE_CONFIG: "",
          TRANSCRIBE_API_KEY: "trs_secret",
          TRANSCRIBE_PORT: String(settings.port),
        },
        stdout: "ignore",
        stderr: "ignore",
      });
      expect(await child.exited).toBe(5);
      expect(asked).toEqual([expected]);
    } finally {
      await Promise.all([note.stop(true), settings.stop(true)]);
    }
  });
});

test.skipIf(!isRoot || !canMount)("a client uses the service's settings file", async () => {
  using parent = temporaryDirectory();
  const etc = join(parent.path, "etc/transcribe");
  mkdirSync(etc, { recursive: true });
  writeFileSync(join(etc, "transcribe.toml"), "[server]\nport = 9\n");
  const steps = 'mount --bind "$0" /etc\nexec "$@"';
  const command = ["unshare", "--mount", "sh", "-ec", steps, join(parent.path, "etc"), ...programCommand("list")];
  const env = { PATH: process.env.PATH, HOME: parent.path, TRANSCRIBE_API_KEY: "trs_secret" };
  const { exitCode, stderr } = await resultOf(
    Bun.spawn(command, { cwd: parent.path, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" }),
  );
  expect(stderr).toContain("127.0.0.1:9");
  expect(exitCode).toBe(4);
});

test("a file's name can't send control characters to the terminal", async () => {
  using parent = temporaryDirectory();
  const { exitCode, stderr } = await new Commands(parent.path).run(
    "restore",
    join(parent.path, "a\u001b[2J\u009b1m.db"),
  );
  expect(exitCode).toBe(1);
  expect(stderr).toContain("a\u{fffd}[2J\u{fffd}1m.db");
  for (const control of ["\u001b", "\u009b"]) expect(stderr).not.toContain(control);
});
