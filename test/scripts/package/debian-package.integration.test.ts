import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { cliProgram } from "../../../src/cli/index.ts";
import { loadSettings } from "../../../src/config/index.ts";
import {
  copyrightFile,
  debianChangelog,
  packPackage,
  writePackageTree,
} from "../../../tools/release/package/debian-package.ts";
import { packageVersion } from "../../../tools/release/package/facts.ts";
import { manPage } from "../../../tools/release/package/shared-files.ts";
import { packageFacts, packageMaterials, smallProgram } from "../../support/small-program.ts";

const directory = temporaryDirectory();
afterAll(() => directory[Symbol.dispose]());
const canPack = Bun.which("dpkg-deb") !== null;
if (!canPack) console.warn("SKIPPED: the Debian package; missing: dpkg-deb");

const read = (...command: string[]) =>
  Bun.spawnSync(command, { env: { ...process.env, LC_ALL: "C" } }).stdout.toString();

describe.skipIf(!canPack)("the Debian package", () => {
  const pack = async (name: string) => {
    const tree = join(directory.path, name);
    mkdirSync(tree, { mode: 0o700 });
    await writePackageTree(tree, packageFacts, smallProgram(directory.path, `${name}-program`));
    await packPackage(tree, `${tree}.deb`, packageFacts);
    return `${tree}.deb`;
  };

  test("has the same bytes whenever and wherever it is packed", async () => {
    const [one, other] = [await pack("one"), await pack("another")];
    expect(await Bun.file(one).bytes()).toEqual(await Bun.file(other).bytes());
    const listed = read("dpkg-deb", "--contents", one).trim().split("\n");
    expect(listed.filter((line) => !/^[-d]rw[x-]r-[x-](?:r-[x-]|---) root\/root /.test(line))).toEqual([]);
    const times = new Set(listed.map((line) => line.split(/\s+/).slice(3, 5).join(" ")));
    expect([...times]).toEqual(["2027-01-15 08:00"]);
  });

  test("has the files that Debian's policy asks for, with its settings as the only configuration file", async () => {
    const deb = await pack("policy");
    const listed = read("dpkg-deb", "--contents", deb);
    for (const path of [
      ...[
        "usr/share/doc/transcribe/copyright",
        "usr/share/doc/transcribe/changelog.gz",
        "usr/share/man/man1/transcribe.1.gz",
      ],
      ...["usr/lib/systemd/system/transcribe.service", "usr/share/bash-completion/completions/transcribe"],
    ]) {
      expect(listed).toContain(` ./${path}\n`);
    }
    expect(listed).toMatch(/^-rw-r----- .* \.\/etc\/transcribe\/transcribe\.toml$/m);
    expect(listed).not.toMatch(/usr\/local|\.\/etc\/systemd|\/home/);
    expect(read("dpkg-deb", "--info", deb, "conffiles")).toBe("/etc/transcribe/transcribe.toml\n");
    expect(read("dpkg-deb", "--field", deb, "Version")).toBe("1.2.3~rc.1\n");
    for (const name of ["preinst", "postinst", "prerm", "postrm"]) {
      writeFileSync(join(directory.path, name), read("dpkg-deb", "--info", deb, name));
      expect(Bun.spawnSync(["sh", "-n", join(directory.path, name)]).exitCode, name).toBe(0);
    }
    expect(
      loadSettings({ file: join(directory.path, "policy/etc/transcribe/transcribe.toml"), environment: {}, flags: {} })
        .storage,
    ).toMatchObject({
      data_dir: "/var/lib/transcribe",
      runtime_dir: "/usr/lib/transcribe",
    });
  });
});

test("the manual page has every command, and no text that groff would take for a control line", async () => {
  const page = manPage("1.2.3", "2027-01-15");
  for (const command of (await cliProgram()).commands) expect(page).toContain(`.SS transcribe ${command.name()}`);
  expect(page.split("\n").filter((line) => /^[.'](?!(?:TH|SH|SS|TP|BR?|IR?|RI)\b)/.test(line))).toEqual([]);
});

test("a prerelease sorts before its release, and the copyright file names every part", () => {
  expect([packageVersion("0.3.0"), packageVersion("0.3.0-rc.1")]).toEqual(["0.3.0", "0.3.0~rc.1"]);
  expect(debianChangelog(packageFacts)).toEndWith(" -- A <a@example.org>  Fri, 15 Jan 2027 08:00:00 +0000\n");
  const copyright = copyrightFile("MIT License", packageMaterials);
  expect(copyright).toContain("  MIT AND Zlib\n");
  expect(copyright).toContain("  zlib 1.2.3: Zlib\n");
});
