import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { programVersion } from "../../src/program/index.ts";
import { available, root, samplePath } from "../support/checkout.ts";
import { Podman } from "./podman.ts";
import { builtProgram } from "./program.ts";

const timeout = 300_000;
const sample = samplePath("jfk.mp3");
const obstacle = process.env.TEST_PROGRAM === undefined ? "scripts/test --binary runs it" : Podman.obstacle();
if (obstacle !== null) console.warn(`SKIPPED: the image in podman; ${obstacle}`);
const ready = available("the image in podman", sample) && obstacle === null;

/** Builds the image with the built program, and returns the path of its archive. */
async function builtImage(): Promise<string> {
  await builtProgram();
  const script = join(root, "scripts/support/container/index.ts");
  const build = Bun.spawn([process.execPath, "--no-env-file", script], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const output = await build.stdout.text();
  const file = /^build-container: (dist\/\S+\.oci\.tar), \d+ MB/m.exec(output)?.[1];
  if ((await build.exited) !== 0 || file === undefined) throw new Error(`scripts/build-container failed: ${output}`);
  return join(root, file);
}

describe.if(ready)("the image", () => {
  test(
    "is loaded by podman, and transcribes as its own user with a read-only root, without a capability and a network",
    async () => {
      await using podman = await Podman.start();
      const succeed = async (...args: readonly string[]) => {
        const { exitCode, stdout, stderr } = await podman.run(...args);
        expect([exitCode, stderr], args.join(" ")).toEqual([0, expect.any(String)]);
        return stdout;
      };
      const tag = `transcribe:${programVersion}`;
      expect(await succeed("load", "--input", await builtImage())).toContain(tag);
      const started = await podman.runContainer(
        ...["server", "--volume", "transcribe-data:/var/lib/transcribe", "--volume", `${sample}:/jfk.mp3:ro`, tag],
      );
      expect(started).toMatchObject({ exitCode: 0, stderr: "" });

      const transcribe = (...args: readonly string[]) => succeed("exec", "server", "transcribe", ...args);
      while ((await podman.run("exec", "server", "transcribe", "service", "status")).exitCode !== 0) {
        const [state = ""] = (await succeed("inspect", "--format", "{{.State.Status}}", "server")).split("\n");
        if (state !== "running")
          throw new Error(`the server is ${state}: ${(await podman.run("logs", "server")).stderr}`);
        await Bun.sleep(200);
      }
      await transcribe("accounts", "create", "acme");
      const key = /"key": "(\w+)"/.exec(await transcribe("keys", "create", "--account", "acme", "--json"))?.[1] ?? "";
      const submit = ["exec", "--env", `TRANSCRIBE_API_KEY=${key}`, "server", "transcribe", "submit"];
      const transcript = await succeed(...submit, "/jfk.mp3", "--wait");
      expect(transcript.replace(/\s+/g, " ")).toContain("what your country can do for you");

      const { checks } = JSON.parse(await transcribe("doctor", "--json")) as {
        checks: { id: string; status: string }[];
      };
      expect(checks.filter(({ status }) => status === "problem" || status === "warning")).toEqual([]);
      const shell = (script: string) => succeed("exec", "server", "sh", "-c", script);
      expect(await shell("if (: >/here) 2>&-; then echo writable; fi")).toBe("");
      const status = await shell('while read -r line; do echo "$line"; done </proc/1/status');
      expect(status).toMatch(/^Uid:\s+10001\s+10001\s/m);
      expect(status).toMatch(/^CapBnd:\s+0+$/m);
      expect(status).toMatch(/^NoNewPrivs:\s+1$/m);

      await succeed("stop", "--time", "30", "server");
      expect((await succeed("inspect", "--format", "{{.State.ExitCode}}", "server")).trim()).toBe("0");
    },
    timeout,
  );
});
