import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { BootedMachine } from "./booted-machine.ts";

const { TEST_SYSTEMS: systems, TEST_INSTALLER: installer = "" } = process.env;
if (systems === undefined) console.warn("SKIPPED: a standby under systemd itself; scripts/test-service runs it");

const timeout = 120_000;
setDefaultTimeout(timeout);
const settingsFile = "/etc/transcribe/transcribe.toml";
/** Name of the first server's unit, which runs next to the service. */
const first = "first-server";

/** Starts the first server as a process of its own, because a machine has one service. @param options of systemd-run */
const startFirst = (...options: string[]) => [
  ...["systemd-run", ...options, "--setenv=TRANSCRIBE_STANDBY_FENCE=/srv/fence"],
  ...["--setenv=TRANSCRIBE_STANDBY_LEASE_SECONDS=2", "/srv/installer", "serve"],
  ...["--config", "/srv/standby/127.0.0.1/settings.toml", "--data-dir", "/srv/data", "--port", "8790"],
];

describe.skipIf(systems === undefined).each((systems ?? "").split(":"))("on %s", (tree) => {
  let machine: BootedMachine;
  const output = async (...command: string[]) => (await machine.run(...command)).stdout.trim();
  const property = (unit: string, name: string) => output("systemctl", "show", unit, "--value", "-p", name);
  const status = () => machine.run("transcribe", "service", "status");
  const install = (...args: string[]) => machine.run("/srv/installer", "service", "install", ...args);
  const until = async (isTrue: () => Promise<boolean>) => {
    const giveUpAt = performance.now() + timeout / 2;
    while (!(await isTrue())) {
      if (performance.now() > giveUpAt) {
        const logs = await output("journalctl", "-u", "transcribe", "-u", first, "-o", "cat", "--no-pager");
        throw new Error(`it does not come true: ${isTrue}\n${logs}`);
      }
      await Bun.sleep(100);
    }
  };

  beforeAll(async () => {
    machine = new BootedMachine(tree);
    await machine.booted();
    machine.write("/srv/installer", readFileSync(installer), 0o755);
    const init = ["standby", "init", "--directory", "/srv/standby", "--machine", "127.0.0.1", "localhost"];
    expect((await machine.run("/srv/installer", ...init)).exitCode).toBe(0);
    await machine.run("install", "-d", "-m", "777", "/srv/fence");
    expect((await machine.run(...startFirst(`--unit=${first}`))).exitCode).toBe(0);
  });
  afterAll(() => machine?.[Symbol.asyncDispose]());

  test(`${basename(tree)}: the program installs itself as a server that follows another one`, async () => {
    const installed = await install("--standby", "/srv/standby/localhost");
    expect([installed.exitCode, installed.stderr]).toEqual([0, ""]);
    await until(async () => (await status()).exitCode === 0);
    expect((await status()).stdout).toContain("follows tls://127.0.0.1:8788");
    await until(async () => (await property("transcribe", "StatusText")) === "Ready; 0 processing, 0 queued.");
    const reloaded = await machine.run("systemctl", "reload", "transcribe");
    expect([reloaded.exitCode, await property("transcribe", "NRestarts")]).toEqual([0, "0"]);
    // With the fence, which the unit lets it write to after a second installation.
    const settings = machine.read(settingsFile);
    machine.write(settingsFile, settings.replace("#lease_seconds = ", 'fence = "/srv/fence"\nlease_seconds = 2 #'));
    expect((await install("--standby")).stdout).toContain("The service is running.");
    await until(async () => (await status()).exitCode === 0);
  });

  test("the service serves after a takeover by one command, and the former server does not start again", async () => {
    await machine.run("systemctl", "kill", "--signal=KILL", first);
    const promoted = await machine.run("transcribe", "promote");
    expect([promoted.exitCode, promoted.stderr]).toEqual([0, ""]);
    await until(async () => (await status()).stdout.startsWith("server    ready"));
    expect(await property("transcribe", "NRestarts")).toBe("1");
    // Both machines are one here, whose port for the copy the new server has.
    const again = startFirst("--unit=again", "--wait", "--setenv=TRANSCRIBE_STANDBY_LISTEN=");
    const { exitCode } = await machine.run(...again);
    expect([exitCode, await output("journalctl", "-u", "again", "-o", "cat")]).toEqual([
      ...[6, expect.stringContaining("was replaced")],
    ]);
    // An upgrade is that of any server.
    expect((await install()).stdout).toContain("running already, unchanged");
  });

  test("an uninstallation with --purge leaves nothing of it", async () => {
    const gone = await machine.run("transcribe", "service", "uninstall", "--purge", "--yes");
    expect([gone.exitCode, gone.stderr]).toEqual([0, ""]);
    const places = "/usr/local/bin/transcribe /usr/local/lib/transcribe /var/lib/transcribe /etc/transcribe";
    expect((await machine.run("sh", "-c", `ls -d ${places}; id transcribe`)).stdout).toBe("");
  });
});
