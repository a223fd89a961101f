import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { samplePath } from "../../../harness/checkout.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { readSbom } from "../../../tools/build/sbom/image-sbom.ts";
import { writeRpm } from "../../../tools/release/package/rpm-file.ts";
import { writeRpmPackage } from "../../../tools/release/package/rpm-package.ts";
import { packageFacts } from "../../support/small-program.ts";
import { BootedMachine } from "./booted-machine.ts";

const { TEST_SYSTEMS: listed, TEST_INSTALLER: installer = "", TEST_RPM: rpm = "" } = process.env;
if (listed === undefined) console.warn("SKIPPED: the RPM package; scripts/test-service runs it");
const systems = (listed ?? "").split(":").filter((tree) => existsSync(join(tree, "usr/bin/dnf")));
if (listed !== undefined && systems.length < listed.split(":").length) {
  console.warn("SKIPPED: the RPM package under systemd; a system has no dnf (on Debian: apt install debootstrap)");
}

setDefaultTimeout(180_000);
const settings = "/etc/transcribe/transcribe.toml";
const parts = "/usr/lib/transcribe";
const data = "/var/lib/transcribe";
/** dnf of Debian, without a repository and without a question. Debian has no release that dnf could detect. */
const dnf = ["dnf", "--assumeyes", "--disablerepo=*", "--releasever=1", "--setopt=install_weak_deps=False"];
const libraries = [
  ...["libc.so.6(GLIBC_2.34)(64bit)", "libgcc_s.so.1(GCC_4.2.0)(64bit)", "libstdc++.so.6(GLIBCXX_3.4.30)(64bit)"],
];

/** Writes a package that provides to rpm what Debian's packages have installed. */
async function writeStandIn(target: string): Promise<void> {
  const any = (name: string) => ({ name, flags: 0, version: "" });
  await writeRpm(
    target,
    {
      ...{ name: "debian", version: "1", release: "1", architecture: "x86_64", epoch: packageFacts.epoch },
      ...{
        summary: "Debian",
        description: "Debian",
        licence: "MIT",
        packager: packageFacts.maintainer,
        change: "None",
      },
      ...{
        provides: ["/bin/sh", "shadow", ...libraries].map(any),
        requires: [any("/bin/sh")],
        suggests: [any("none")],
      },
      scripts: { pre: ":", post: ":", preun: ":", postun: ":" },
    },
    [{ path: "/usr/share/doc/debian", mode: 0o040755, content: null, flags: 0, group: "root" }],
  );
}

const scope = temporaryDirectory();
afterAll(() => scope[Symbol.dispose]());
const standIn = join(scope.path, "stand-in.rpm");
const older = join(scope.path, "older.rpm");

beforeAll(async () => {
  if (systems.length === 0) return;
  await writeStandIn(standIn);
  // An older version by rpm's comparison: a prerelease of this one.
  const { version } = (await Bun.file("package.json").json()) as { version: string };
  const program = { path: installer, materials: await readSbom(`${installer}.cdx.json`) };
  await writeRpmPackage(older, { ...packageFacts, version: `${version}-rc.1` }, program);
});

describe.each(systems)("on %s", (tree) => {
  let machine: BootedMachine;
  const shell = async (script: string) => {
    const { exitCode, stdout, stderr } = await machine.run("sh", "-euc", script);
    expect([exitCode, stderr], script).toEqual([0, ""]);
    return stdout;
  };
  const property = async (name: string) => (await shell(`systemctl show transcribe --value -p ${name}`)).trim();
  const change = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await machine.run(...dnf, ...args);
    // dnf installs a package although the script after its installation failed.
    expect([exitCode, stdout + stderr], args.join(" ")).toEqual([
      0,
      expect.not.stringMatching(/error|scriptlet failed/i),
    ]);
    return stdout + stderr;
  };
  const installed = () => shell("rpm -q transcribe");

  beforeAll(async () => {
    machine = new BootedMachine(tree);
    await machine.booted();
    machine.copy("/srv/stand-in.rpm", standIn);
    machine.copy("/srv/older.rpm", older);
    machine.copy("/srv/newer.rpm", rpm);
    machine.write("/srv/jfk.mp3", readFileSync(samplePath("jfk.mp3")));
  });
  afterAll(() => machine?.[Symbol.asyncDispose]());

  test(`${basename(tree)}: dnf refuses the package without its libraries`, async () => {
    const { exitCode, stderr } = await machine.run(...dnf, "install", "/srv/newer.rpm");
    expect(exitCode).toBe(1);
    for (const needed of [...libraries, "(shadow-utils or shadow)"]) expect(stderr).toContain(`provides ${needed} `);
  });

  test("an installation does not start the server, which then transcribes with all restrictions", async () => {
    await change("install", "/srv/stand-in.rpm");
    await change("install", "/srv/older.rpm");
    expect(await property("ActiveState")).toBe("inactive");
    expect(await shell("rpm --verify transcribe")).toBe("");
    expect(await shell(`stat -c '%a %U %G' ${settings}`)).toBe("640 root transcribe\n");
    await shell("systemctl enable --now transcribe 2>/dev/null; transcribe accounts create acme >/dev/null");
    expect([await property("ActiveState"), await property("User")]).toEqual(["active", "transcribe"]);
    expect(await shell(`find ${data} ! -user transcribe; find ${parts} -user transcribe`)).toBe("");
    const key = /"key": "(\w+)"/.exec(await shell("transcribe keys create --account acme --json"))?.[1] ?? "";
    const submitted = await machine.run(
      ...["env", `TRANSCRIBE_API_KEY=${key}`, "transcribe", "submit", "/srv/jfk.mp3", "--wait"],
    );
    expect(submitted.stdout.replace(/\s+/g, " ")).toContain("what you can do for your country");
  });

  test.each([
    ["an upgrade", "upgrade", "/srv/newer.rpm", /^transcribe-\d+\.\d+\.\d+-1\./],
    ["a downgrade", "downgrade", "/srv/older.rpm", /^transcribe-\d+\.\d+\.\d+~rc\.1-1\./],
  ])("%s restarts the server, and keeps data and changed settings", async (_, command, file, name) => {
    await shell(`printf '# ${command}\\n' >> ${settings}`);
    const pid = await property("MainPID");
    await change(command, file);
    expect(await installed()).toMatch(name);
    expect([await property("ActiveState"), await property("UnitFileState")]).toEqual(["active", "enabled"]);
    expect(await property("MainPID")).not.toBe(pid);
    expect(await shell("transcribe accounts list")).toContain("acme");
    expect(machine.read(settings)).toEndWith(`# ${command}\n`);
    const changed = await machine.run("rpm", "--verify", "transcribe");
    expect(changed.stdout.trim()).toMatch(/^S\S+ +c \/etc\/transcribe\/transcribe\.toml$/);
  });

  test("a removal stops the server, removes its parts, and keeps data, user and changed settings", async () => {
    expect(await change("remove", "transcribe")).toContain(`rm -r ${data} && userdel transcribe`);
    expect(await property("LoadState")).toBe("not-found");
    const places = `/usr/bin/transcribe ${parts} /usr/share/doc/transcribe /usr/share/licenses/transcribe`;
    const left = `ls -d ${places} /etc/transcribe/* ${data}/transcribe.db 2>/dev/null || true; id -un transcribe`;
    expect(await shell(left)).toBe(`${settings}.rpmsave\n${data}/transcribe.db\ntranscribe\n`);
    expect(await shell("find /etc/systemd -name 'transcribe*'")).toBe("");
  });

  test("the package is refused next to the program's own service", async () => {
    machine.copy("/srv/installer", installer);
    await shell("/srv/installer service install --no-start >/dev/null");
    const { exitCode, stdout, stderr } = await machine.run(...dnf, "install", "/srv/newer.rpm");
    expect([exitCode, stdout + stderr]).toEqual([1, expect.stringContaining("  transcribe service uninstall\n")]);
    expect(await shell("ls /usr/bin/transcribe 2>/dev/null || true")).toBe("");
  });
});
