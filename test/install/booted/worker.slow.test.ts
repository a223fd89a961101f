import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { root, samplePath } from "../../../harness/checkout.ts";
import { natsServerProgram } from "../../../harness/nats-server.ts";
import { BootedMachine } from "./booted-machine.ts";

const { TEST_SYSTEMS: systems, TEST_INSTALLER: installer = "" } = process.env;
if (systems === undefined) console.warn("SKIPPED: a worker under systemd itself; scripts/test-service runs it");
const broker = systems === undefined ? null : await natsServerProgram("a worker under systemd itself");

const timeout = 120_000;
setDefaultTimeout(timeout);
const worker = "transcribe-worker";
const unit = `/etc/systemd/system/${worker}.service`;
const fleet = "/srv/fleet";

/** Starts the coordinator as a process of its own, because a machine has one service. */
const startServer = [
  ...["systemd-run", "--unit=coordinator", "--setenv=TRANSCRIBE_FLEET_WORK_HERE=false"],
  ...["/usr/local/bin/transcribe", "serve", "--config", `${fleet}/coordinator/fleet.toml`, "--data-dir", "/srv/data"],
];

describe.skipIf(broker === null).each((systems ?? "").split(":"))("on %s", (tree) => {
  let machine: BootedMachine;
  const systemctl = async (...args: string[]) => (await machine.run("systemctl", ...args)).stdout.trim();
  const property = (name: string) => systemctl("show", worker, "--value", "-p", name);
  const log = async (name: string) => (await machine.run("journalctl", "-u", name, "-o", "cat", "--no-pager")).stdout;
  const install = (...args: string[]) => machine.run("/srv/installer", "service", "install", ...args);
  const until = async (isTrue: () => Promise<boolean>) => {
    const giveUpAt = performance.now() + timeout / 2;
    while (!(await isTrue())) {
      if (performance.now() > giveUpAt) throw new Error(`it does not come true: ${isTrue}\n${await log(worker)}`);
      await Bun.sleep(100);
    }
  };

  beforeAll(async () => {
    machine = new BootedMachine(tree);
    await machine.booted();
    machine.write("/srv/installer", readFileSync(installer), 0o755);
    machine.write("/usr/local/bin/nats-server", readFileSync(broker ?? ""), 0o755);
    machine.write("/srv/jfk.mp3", readFileSync(samplePath("jfk.mp3")));
    machine.write("/srv/broker.sh", brokerCommands());
    const init = ["fleet", "init", "--directory", fleet, "--broker", "127.0.0.1", "--worker", "w1"];
    expect((await machine.run("/srv/installer", ...init)).exitCode).toBe(0);
  });
  afterAll(() => machine?.[Symbol.asyncDispose]());

  test(`${basename(tree)}: the program installs itself as a worker, which waits for the broker and for the coordinator`, async () => {
    const installed = await install("--worker", `${fleet}/w1`);
    expect([installed.exitCode, installed.stderr]).toEqual([0, ""]);
    expect([await property("ActiveState"), await property("NRestarts")]).toEqual(["active", "0"]);
    const status = async () => (await machine.run("transcribe", "service", "status")).stdout;
    await until(async () => (await status()).includes("not ready: the broker tls://127.0.0.1:4222 is away"));
    const started = await machine.run("sh", "-e", "/srv/broker.sh");
    expect([started.exitCode, await systemctl("is-active", "transcribe-broker")]).toEqual([0, "active"]);
    await until(async () => (await status()).includes("not ready: no coordinator of this build uses the broker"));
    expect((await machine.run(...startServer)).exitCode).toBe(0);
    await until(async () => (await machine.run("transcribe", "service", "status")).exitCode === 0);
    expect(await property("StatusText")).toBe("Ready; 0 processing, 0 queued.");
  });

  test("the worker processes the parts of a recording, as its own user", async () => {
    const data = ["--data-dir", "/srv/data"];
    await machine.run("transcribe", "accounts", "create", "acme", ...data);
    const created = await machine.run("transcribe", "keys", "create", "--account", "acme", "--json", ...data);
    const key = /"key": "(\w+)"/.exec(created.stdout)?.[1] ?? "";
    const submit = ["transcribe", "submit", "/srv/jfk.mp3", "--wait"];
    const submitted = await machine.run("env", `TRANSCRIBE_API_KEY=${key}`, ...submit);
    // The lines are as wide as a terminal.
    expect(submitted.stdout.replace(/\s+/g, " ")).toContain("what you can do for your country");
    const owners = await machine.run("find", "/var/lib/transcribe", "!", "-user", "transcribe");
    expect(owners.stdout).toBe("");
    const left = await machine.run(
      "find",
      "/var/lib/transcribe/work/fleet",
      "/var/lib/transcribe-broker",
      "-name",
      "*.blk",
      "-o",
      "-name",
      "operation-*",
    );
    expect(left.stdout).toBe("");
    expect((await machine.run("stat", "-c", "%a %G", "/etc/transcribe/fleet/key.pem")).stdout).toBe("640 transcribe\n");
  });

  test("a repeated installation changes nothing, and a server next to the worker is refused", async () => {
    const pid = await property("MainPID");
    const again = await install("--worker");
    expect([again.exitCode, again.stdout]).toEqual([0, expect.stringContaining("running already, unchanged")]);
    expect(await property("MainPID")).toBe(pid);
    const server = await install();
    expect([server.exitCode, server.stderr]).toEqual([1, expect.stringContaining(`has the service ${worker} already`)]);
  });

  test("a stop reports that the worker leaves, and an uninstallation with --purge leaves nothing of it", async () => {
    const gone = await machine.run("transcribe", "service", "uninstall", "--purge", "--yes");
    expect([gone.exitCode, gone.stderr]).toEqual([0, ""]);
    await until(async () => (await log("coordinator")).includes('"fleet.worker_left"'));
    expect(await property("LoadState")).toBe("not-found");
    const places = "/usr/local/bin/transcribe /usr/local/lib/transcribe /var/lib/transcribe /etc/transcribe";
    expect((await machine.run("sh", "-c", `ls -d ${places} ${unit}; id transcribe`)).stdout).toBe("");
  });
});

/** Returns the commands of docs/fleet.md that install the broker, for the directory of this test. */
function brokerCommands(): string {
  const page = readFileSync(join(root, "docs/fleet.md"), "utf8");
  const [, commands] = /\*\*2\. The broker.*?```sh\ninstall -m 755 nats-server \S+\n(.*?)```/s.exec(page) ?? [];
  if (commands === undefined) throw new Error("docs/fleet.md has no commands for the broker");
  return commands.replaceAll("/root/fleet", fleet);
}
