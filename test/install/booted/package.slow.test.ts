import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { samplePath } from "../../../harness/checkout.ts";
import { BootedMachine } from "./booted-machine.ts";

const { TEST_SYSTEMS: systems, TEST_INSTALLER: installer = "", TEST_REPOSITORY: repository = "" } = process.env;
if (systems === undefined) console.warn("SKIPPED: the Debian package; scripts/test-service runs it");

setDefaultTimeout(180_000);
const settings = "/etc/transcribe/transcribe.toml";
const parts = "/usr/lib/transcribe";
const data = "/var/lib/transcribe";
/** Installs without a question, as automatic upgrades do. */
const aptInstall = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "--yes", "--no-install-recommends"];

describe.skipIf(systems === undefined).each((systems ?? "").split(":"))("on %s", (tree) => {
  let machine: BootedMachine;
  let key = "";
  const property = async (name: string) =>
    (await machine.run("systemctl", "show", "transcribe", "--value", "-p", name)).stdout.trim();
  const shell = (script: string) => machine.run("sh", "-euc", script);
  const install = async (...names: string[]) => {
    const { exitCode, stdout, stderr } = await machine.run(...aptInstall, ...names);
    expect(exitCode, `${stdout}${stderr}`).toBe(0);
    expect([await property("ActiveState"), await property("UnitFileState")]).toEqual(["active", "enabled"]);
  };
  const transcribe = (...args: string[]) => machine.run("env", `TRANSCRIBE_API_KEY=${key}`, "transcribe", ...args);
  const recordings = async () => {
    const listed = await transcribe("list", "--json");
    expect([listed.exitCode, listed.stderr]).toEqual([0, ""]);
    return listed.stdout;
  };

  beforeAll(async () => {
    expect(existsSync(repository)).toBe(true);
    machine = new BootedMachine(tree);
    await machine.booted();
    machine.copy("/srv/repository.tar", repository);
    machine.write("/srv/jfk.mp3", readFileSync(samplePath("jfk.mp3")));
    machine.write("/etc/apt/sources.list", "");
    machine.write(
      "/etc/apt/sources.list.d/transcribe.list",
      "deb [trusted=yes] file:/srv/transcribe-apt stable main\n",
    );
    expect((await shell("tar -C /srv -xf /srv/repository.tar; rm /srv/repository.tar")).exitCode).toBe(0);
  });
  afterAll(() => machine?.[Symbol.asyncDispose]());

  test(`${basename(tree)}: apt installs the package from the offline repository, and it transcribes`, async () => {
    const updated = await machine.run("apt-get", "update");
    expect(updated.stdout + updated.stderr).not.toMatch(/^[WE]:/m);
    await install("transcribe");
    expect((await machine.run("dpkg", "--verify", "transcribe")).stdout).toBe("");
    expect((await machine.run("stat", "-c", "%a %U %G", settings)).stdout).toBe("640 root transcribe\n");
    await machine.run("transcribe", "accounts", "create", "acme");
    const created = await machine.run("transcribe", "keys", "create", "--account", "acme", "--json");
    key = /"key": "(\w+)"/.exec(created.stdout)?.[1] ?? "";
    const submitted = await transcribe("submit", "/srv/jfk.mp3", "--wait");
    expect(submitted.stdout.replace(/\s+/g, " ")).toContain("what you can do for your country");
    expect((await shell(`find ${data} ! -user transcribe; find ${parts} -user transcribe`)).stdout).toBe("");
    const again = await machine.run("transcribe", "service", "install");
    expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining("apt remove transcribe")]);
  });

  test("an upgrade restarts the server and keeps recordings, keys and changed settings", async () => {
    const before = await recordings();
    await shell(`printf '\\n[log]\\nlevel = "debug"\\n' >> ${settings}`);
    const pid = await property("MainPID");
    const repacked = await shell(`
        dpkg-deb --raw-extract /srv/transcribe-apt/pool/main/t/transcribe/*.deb /srv/next
        sed -i 's/^Version: .*/&+next/' /srv/next/DEBIAN/control
        dpkg-deb -Znone --build /srv/next /srv/next.deb
        rm -r /srv/next`);
    expect([repacked.exitCode, repacked.stderr]).toEqual([0, ""]);
    await install("/srv/next.deb");
    expect(await property("MainPID")).not.toBe(pid);
    expect(await recordings()).toBe(before);
    expect(machine.read(settings)).toContain('level = "debug"');
  });

  test("a removal keeps data and settings, which the next installation uses", async () => {
    const before = await recordings();
    expect((await machine.run("apt-get", "remove", "--yes", "transcribe")).exitCode).toBe(0);
    expect(await property("LoadState")).not.toBe("loaded");
    expect((await shell(`ls -d /usr/bin/transcribe ${parts} ${settings} ${data}/transcribe.db || true`)).stdout).toBe(
      `${settings}\n${data}/transcribe.db\n`,
    );
    await install("transcribe");
    expect(await recordings()).toBe(before);
  });

  test("a purge removes the settings, and keeps recordings and their user", async () => {
    const purged = await machine.run("apt-get", "purge", "--yes", "transcribe");
    expect([purged.exitCode, purged.stdout]).toEqual([0, expect.stringContaining(`rm -r ${data} && userdel`)]);
    const left = await shell(`ls -d /etc/transcribe ${parts} ${data}/transcribe.db || true; id -un transcribe`);
    expect(left.stdout).toBe(`${data}/transcribe.db\ntranscribe\n`);
    const links = "find /etc/systemd /var/lib/systemd/deb-systemd-helper-enabled -name 'transcribe*'";
    expect((await shell(`${links} || true`)).stdout).toBe("");
  });

  test("the package is refused next to the program's own service, replaces it, and without data a purge removes the user", async () => {
    machine.copy("/srv/installer", installer);
    expect((await machine.run("/srv/installer", "service", "install", "--no-start")).exitCode).toBe(0);
    const refused = await machine.run(...aptInstall, "transcribe");
    expect(refused.exitCode).toBe(100);
    // dpkg prints the output of scripts through a terminal.
    expect(refused.stdout + refused.stderr).toMatch(/^ {2}transcribe service uninstall\r?$/m);
    await machine.run("transcribe", "accounts", "create", "moved");
    await machine.run("/srv/installer", "service", "uninstall");
    await install("-o", "Dpkg::Options::=--force-confold", "transcribe");
    expect(machine.read(settings)).toContain(`\nruntime_dir = "${parts}"\n`);
    expect((await machine.run("transcribe", "accounts", "list")).stdout).toContain("moved");
    await shell(`systemctl stop transcribe; rm -r ${data}`);
    await machine.run("apt-get", "purge", "--yes", "transcribe");
    expect((await machine.run("id", "transcribe")).exitCode).toBe(1);
  });
});
