import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { root } from "../../support/checkout.ts";
import { debianTool } from "../../support/debian-tool.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { BootedMachine } from "./booted-machine.ts";

// rpm is not available on Debian: this test places the package's files and runs its scripts in rpm's order.
const { TEST_SYSTEMS: systems, TEST_RPM: rpm = "" } = process.env;
if (systems === undefined) console.warn("SKIPPED: the RPM package; scripts/test-service runs it");
const bsdtar =
  systems === undefined
    ? null
    : await debianTool({
        ...{ program: "bsdtar", packages: ["libarchive-tools", "libarchive13"] },
        skipped: "the RPM package under systemd",
      });

const timeout = 180_000;
const settings = "/etc/transcribe/transcribe.toml";
const parts = "/usr/lib/transcribe";
const data = "/var/lib/transcribe";

describe.skipIf(bsdtar === null).each((systems ?? "").split(":"))("on %s", (tree) => {
  let machine: BootedMachine;
  const shell = async (script: string) => {
    const { exitCode, stdout, stderr } = await machine.run("sh", "-euc", script);
    expect([exitCode, stderr], script).toEqual([0, ""]);
    return stdout;
  };
  const script = (name: string, installed: number) => shell(`sh /srv/scripts/${name} ${installed}`);
  const property = async (name: string) => (await shell(`systemctl show transcribe --value -p ${name}`)).trim();
  const place = async () => {
    // tar replaces a file and does not overwrite it, as rpm does.
    await shell(`tar -C / --warning=no-timestamp -xf /srv/package.tar && chgrp transcribe ${settings}`);
  };

  beforeAll(async () => {
    machine = new BootedMachine(tree);
    await machine.booted();
    await shell("mkdir /srv/scripts");
    for (const name of ["pre", "post", "preun", "postun"]) {
      machine.write(`/srv/scripts/${name}`, readFileSync(join(root, "deploy/rpm", name)));
    }
    const library = join(bsdtar ?? "", "usr/lib", process.arch === "x64" ? "x86_64-linux-gnu" : "aarch64-linux-gnu");
    using scope = temporaryDirectory();
    const archive = join(scope.path, "package.tar");
    const converted = Bun.spawnSync([join(bsdtar ?? "", "usr/bin/bsdtar"), "-cf", archive, `@${rpm}`], {
      env: { ...process.env, LD_LIBRARY_PATH: library },
    });
    expect([converted.exitCode, converted.stderr.toString()]).toEqual([0, ""]);
    machine.copy("/srv/package.tar", archive);
  }, timeout);
  afterAll(() => machine?.[Symbol.asyncDispose](), timeout);

  test(
    `${basename(tree)}: an installation does not start the server, which then serves with all restrictions`,
    async () => {
      await script("pre", 1);
      await place();
      await script("post", 1);
      expect(await property("ActiveState")).toBe("inactive");
      expect(await shell(`stat -c '%a %U %G' ${settings}`)).toBe("640 root transcribe\n");
      await shell("systemctl enable --now transcribe 2>/dev/null; transcribe accounts create acme >/dev/null");
      expect([await property("ActiveState"), await property("User")]).toEqual(["active", "transcribe"]);
      expect(await shell(`find ${data} ! -user transcribe; find ${parts} -user transcribe`)).toBe("");
    },
    timeout,
  );

  test(
    "an upgrade stops the running server before its files are replaced, and starts it again with its data",
    async () => {
      const pid = await property("MainPID");
      await script("pre", 2);
      expect(await property("ActiveState")).toBe("inactive");
      await place();
      await script("post", 2);
      await script("preun", 1);
      await script("postun", 1);
      expect([await property("ActiveState"), await property("UnitFileState")]).toEqual(["active", "enabled"]);
      expect(await property("MainPID")).not.toBe(pid);
      expect(await shell("transcribe accounts list")).toContain("acme");
    },
    timeout,
  );

  test(
    "a removal stops the server, removes its parts, and keeps data and user",
    async () => {
      await script("preun", 0);
      await shell("rm /usr/bin/transcribe /usr/lib/systemd/system/transcribe.service");
      expect(await script("postun", 0)).toContain(`rm -r ${data} && userdel transcribe`);
      expect(await property("LoadState")).toBe("not-found");
      const left = `ls -d ${parts} ${data}/transcribe.db 2>/dev/null || true; id -un transcribe`;
      expect(await shell(left)).toBe(`${data}/transcribe.db\ntranscribe\n`);
      expect(await shell("find /etc/systemd -name 'transcribe*'")).toBe("");
    },
    timeout,
  );
});
