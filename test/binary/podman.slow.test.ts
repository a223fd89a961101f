import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { available, root, samplePath } from "../../harness/checkout.ts";
import { builtProgram } from "../../harness/compiled-program.ts";
import { Podman, podmanCompose } from "../../harness/podman.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { programVersion } from "../../src/program/index.ts";
import { CommandError } from "../../tools/shared/run-command.ts";

const timeout = 300_000;
const sample = samplePath("jfk.mp3");
const obstacle = process.env.TEST_PROGRAM === undefined ? "scripts/test --binary runs it" : Podman.obstacle();
if (obstacle !== null) console.warn(`SKIPPED: the image in podman; ${obstacle}`);
const ready = available("the image in podman", sample) && obstacle === null;

const composePackages = ready
  ? await podmanCompose().catch((error: unknown) => {
      if (!(error instanceof CommandError)) throw error;
      console.warn(`SKIPPED: the Compose file in podman; podman-compose cannot be installed: ${error.message}`);
      return null;
    })
  : null;

/** Builds the image with the built program, and returns the path of its archive. */
async function builtImage(): Promise<string> {
  await builtProgram();
  const script = join(root, "tools/release/container/index.ts");
  const build = Bun.spawn([process.execPath, "--no-env-file", script], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const output = await build.stdout.text();
  const file = /^build-container: (dist\/\S+\.oci\.tar), \d+ MB/m.exec(output)?.[1];
  if ((await build.exited) !== 0 || file === undefined) throw new Error(`scripts/build-container failed: ${output}`);
  return join(root, file);
}

/** Runs a command and returns its output. @throws {Error} when it fails */
async function succeed(command: ReturnType<Podman["run"]>): Promise<string> {
  const { exitCode, stdout, stderr } = await command;
  if (exitCode !== 0) throw new Error(`failed with ${exitCode}: ${stderr}${stdout}`);
  return stdout;
}

describe.if(ready)("the image in podman", () => {
  let podman: Podman;
  const tag = `transcribe:${programVersion}`;
  beforeAll(async () => {
    podman = await Podman.start();
    expect(await succeed(podman.run("load", "--input", await builtImage()))).toContain(tag);
  }, timeout);
  afterAll(() => podman?.[Symbol.asyncDispose](), timeout);

  const untilReady = async (container: string) => {
    while ((await podman.run("exec", container, "transcribe", "service", "status")).exitCode !== 0) {
      const state = await succeed(podman.run("inspect", "--format", "{{.State.Status}}", container));
      if (state !== "running\n") {
        throw new Error(`the server is ${state}: ${(await podman.run("logs", container)).stderr}`);
      }
      await Bun.sleep(200);
    }
  };

  test(
    "transcribes as its own user with a read-only root, without a capability and without a network",
    async () => {
      const mounts = ["--volume", "transcribe-data:/var/lib/transcribe", "--volume", `${sample}:/jfk.mp3:ro`];
      await succeed(podman.runContainer("server", ...mounts, tag));
      await untilReady("server");
      const inside = (...args: readonly string[]) => succeed(podman.run("exec", "server", ...args));
      await inside("transcribe", "accounts", "create", "acme");
      const created = await inside("transcribe", "keys", "create", "--account", "acme", "--json");
      const key = `TRANSCRIBE_API_KEY=${/"key": "(\w+)"/.exec(created)?.[1] ?? ""}`;
      const submit = ["exec", "--env", key, "server", "transcribe", "submit", "/jfk.mp3", "--wait"];
      expect((await succeed(podman.run(...submit))).replace(/\s+/g, " ")).toContain("what your country can do for you");

      const { checks } = JSON.parse(await inside("transcribe", "doctor", "--json")) as {
        checks: { id: string; status: string }[];
      };
      expect(checks.filter(({ status }) => status === "problem" || status === "warning")).toEqual([]);
      expect(await inside("sh", "-c", "if (: >/here) 2>&-; then echo writable; fi")).toBe("");
      const status = await inside("sh", "-c", 'while read -r line; do echo "$line"; done </proc/1/status');
      expect(status).toMatch(/^Uid:\s+10001\s+10001\s/m);
      expect(status).toMatch(/^CapBnd:\s+0+$/m);
      expect(status).toMatch(/^NoNewPrivs:\s+1$/m);

      await succeed(podman.run("stop", "--time", "30", "server"));
      expect(await succeed(podman.run("inspect", "--format", "{{.State.ExitCode}}", "server"))).toBe("0\n");
    },
    timeout,
  );

  test.skipIf(composePackages === null)(
    "is started and stopped by podman-compose with the Compose file",
    async () => {
      using folder = temporaryDirectory();
      mkdirSync(join(folder.path, "coordinator"));
      const compose = (...args: readonly string[]) =>
        succeed(podman.compose(composePackages ?? "", { FLEET_DIRECTORY: folder.path }, ...args));
      await compose("up", "--detach");
      await untilReady("transcribe_server_1");
      expect(await succeed(podman.run("ps", "--format", "{{.Names}} {{.Ports}}"))).toBe(
        "transcribe_server_1 127.0.0.1:8787->8787/tcp\n",
      );
      await compose("exec", "-T", "server", "transcribe", "accounts", "create", "acme");
      await compose("down", "--volumes");
      expect(await succeed(podman.run("ps", "--all", "--format", "{{.Names}}"))).not.toContain("transcribe_");
    },
    timeout,
  );
});
