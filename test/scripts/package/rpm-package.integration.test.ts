import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { writeRpm } from "../../../tools/release/package/rpm-file.ts";
import { rpmMetadata, writeRpmPackage } from "../../../tools/release/package/rpm-package.ts";
import { sharedFiles } from "../../../tools/release/package/shared-files.ts";
import { debianTool } from "../../support/debian-tool.ts";
import { packageFacts, packageMaterials, smallProgram } from "../../support/small-program.ts";
import { readRpm } from "./rpm-reader.ts";

const directory = temporaryDirectory();
afterAll(() => directory[Symbol.dispose]());

async function pack(name: string, facts = packageFacts): Promise<string> {
  const target = join(directory.path, `${name}.rpm`);
  await writeRpmPackage(target, facts, smallProgram(directory.path, name));
  return target;
}

const sha256 = (bytes: Uint8Array) => new Bun.CryptoHasher("sha256").update(bytes).digest("hex");

describe("the RPM package", () => {
  let file = Buffer.alloc(0);
  let rpm: ReturnType<typeof readRpm>;
  const numbers = (tag: number) => (rpm.header.tags.get(tag) ?? []) as number[];
  const texts = (tag: number) => (rpm.header.tags.get(tag) ?? []) as string[];
  const path = (index: number) => `${texts(1118)[numbers(1116)[index] ?? -1]}${texts(1117)[index]}`;
  const paths = () => texts(1117).map((_, index) => path(index));
  const relations = (names: number, flags: number, versions: number) =>
    texts(names).map((name, index) => [name, numbers(flags)[index], texts(versions)[index]]);

  beforeAll(async () => {
    file = readFileSync(await pack("package"));
    rpm = readRpm(file);
  });

  test("has the same bytes whenever and wherever it is packed, and leaves nothing next to it", async () => {
    expect(readFileSync(await pack("another")).equals(file)).toBe(true);
    expect(readdirSync(directory.path).filter((name) => name.startsWith("."))).toEqual([]);
    expect(file.includes(directory.path) || file.includes("another")).toBe(false);
  });

  test("has the sizes and digests of its header and payload", () => {
    const whole = Buffer.concat([rpm.header.bytes, rpm.payload]);
    expect(Object.fromEntries(rpm.signature.tags)).toEqual({
      269: [new Bun.CryptoHasher("sha1").update(rpm.header.bytes).digest("hex")],
      273: [sha256(rpm.header.bytes)],
      1000: [whole.length],
      1004: Buffer.from(new Bun.CryptoHasher("md5").update(whole).digest()),
      1007: [rpm.archive.length],
    });
    expect([texts(5092), numbers(5093), numbers(5011)]).toEqual([[sha256(rpm.payload)], [8], [8]]);
    expect(numbers(1009)).toEqual([rpm.members.reduce((sum, { content }) => sum + content.length, 0)]);
  });

  test("has the types of rpm's table of tags, where they are not those of the values", () => {
    const typed = [1004, 1005, 1016, 1030, 1033, 1035, 1085, 5092].map((tag) => rpm.header.types.get(tag));
    expect(typed).toEqual([9, 9, 9, 3, 3, 8, 6, 8]);
    expect([269, 1004].map((tag) => rpm.signature.types.get(tag))).toEqual([6, 7]);
  });

  test("describes every member of the payload in its list of files, in the order of the paths", () => {
    expect(paths()).toEqual([...paths()].sort());
    expect(texts(1118)).toEqual([...new Set(texts(1118))].sort());
    expect(rpm.members.map(({ name }) => name)).toEqual(paths().map((each) => `.${each}`));
    for (const [index, { mode, content, modified, inode, owners, links }] of rpm.members.entries()) {
      const isDirectory = (mode & 0o170000) === 0o040000;
      expect([numbers(1028)[index], numbers(1030)[index], numbers(1096)[index]], path(index)).toEqual([
        content.length,
        mode,
        inode,
      ]);
      expect(texts(1035)[index], path(index)).toBe(isDirectory ? "" : sha256(content));
      expect([modified, numbers(1034)[index], ...owners, links], path(index)).toEqual([
        ...[packageFacts.epoch, packageFacts.epoch],
        ...[0, 0, 1],
      ]);
    }
    const perFile = [1028, 1030, 1033, 1034, 1035, 1036, 1037, 1039, 1040, 1045, 1095, 1096, 1097, 1116];
    for (const tag of perFile) expect(rpm.header.tags.get(tag)?.length, String(tag)).toBe(rpm.members.length);
    expect(new Set(numbers(1096)).size).toBe(rpm.members.length);
  });

  test("has the files of the Debian package that are not Debian's own, and its licences where rpm's systems look", () => {
    const shared = sharedFiles(packageFacts, smallProgram(directory.path, "shared"), "/usr/share/zsh/site-functions");
    expect(paths()).toEqual(expect.arrayContaining(shared.map(({ path }) => path)));
    expect(paths().join("\n")).not.toMatch(
      /lintian|vendor-completions\/_|\/copyright$|changelog\.gz|\/local\/|\/home/m,
    );
    const ofKind = (flags: number) => paths().filter((_, index) => numbers(1037)[index] === flags);
    expect(ofKind(128)).toEqual([
      "/usr/share/licenses/transcribe/LICENSE",
      "/usr/share/licenses/transcribe/LICENSES-OF-PARTS",
    ]);
    const settings = paths().indexOf("/etc/transcribe/transcribe.toml");
    expect(ofKind(1 | 16)).toEqual(["/etc/transcribe/transcribe.toml"]);
    expect([numbers(1030)[settings], texts(1039)[settings], texts(1040)[settings]]).toEqual([
      ...[0o100640, "root", "transcribe"],
    ]);
    expect(texts(1040).filter((group) => group !== "root")).toHaveLength(1);
    expect(numbers(1030)[paths().indexOf("/usr/bin/transcribe")]).toBe(0o100755);
    expect(ofKind(2)).toContain("/usr/share/man/man1/transcribe.1.gz");
  });

  test("owns no directory of other packages", () => {
    const directories = paths().filter((_, index) => numbers(1030)[index] === 0o040755);
    expect(directories.every((each) => /^\/(etc|usr\/share\/(doc|licenses))\/transcribe(\/|$)/.test(each))).toBe(true);
    expect(directories).toContain("/usr/share/doc/transcribe/examples");
  });

  test("states its name, version, licence and system, and no build machine", () => {
    const stated = [1000, 1001, 1002, 1007, 1014, 1015, 1021, 1022, 1044, 5062].map((tag) => texts(tag)[0]);
    expect(stated).toEqual([
      ...["transcribe", "1.2.3~rc.1", "1", "reproducible", "MIT AND Zlib", "A <a@example.org>"],
      ...["linux", "x86_64", "transcribe-1.2.3~rc.1-1.src.rpm", "utf-8"],
    ]);
    expect([texts(100), numbers(1006), numbers(1080)]).toEqual([["C"], [1_800_000_000], [1_800_000_000]]);
    expect(rpm.lead.toString("latin1", 10, 36)).toBe("transcribe-1.2.3~rc.1-1\0\0\0");
    expect([1124, 1125, 1126].map((tag) => texts(tag)[0])).toEqual(["cpio", "gzip", "4"]);
  });

  test("provides itself, and needs the libraries, the package with useradd and the features of rpm that it uses", () => {
    expect(relations(1047, 1112, 1113)).toEqual([
      ["transcribe", 8, "1.2.3~rc.1-1"],
      ["transcribe(x86-64)", 8, "1.2.3~rc.1-1"],
    ]);
    const [feature, library] = [0x100000a, 0x4000];
    expect(relations(1049, 1048, 1050)).toEqual([
      ["(shadow-utils or shadow)", 0x200, ""],
      ...[0x300, 0x500, 0x900, 0x1100].map((flags) => ["/bin/sh", flags, ""]),
      ...["libc.so.6(GLIBC_2.34)", "libgcc_s.so.1(GCC_4.2.0)", "libstdc++.so.6(GLIBCXX_3.4.30)"].map((name) => [
        ...[`${name}(64bit)`, library, ""],
      ]),
      ["rpmlib(CompressedFileNames)", feature, "3.0.4-1"],
      ["rpmlib(FileDigests)", feature, "4.6.0-1"],
      ["rpmlib(PayloadFilesHavePrefix)", feature, "4.0-1"],
      ["rpmlib(RichDependencies)", feature, "4.12.0-1"],
      ["rpmlib(TildeInVersions)", feature, "4.10.0-1"],
    ]);
    expect(relations(5049, 5051, 5050)).toEqual([["libvulkan.so.1()(64bit)", 0, ""]]);
  });

  test("has the scripts of deploy/rpm, for the shell", () => {
    for (const [script, [tag, interpreter]] of Object.entries({
      ...{ pre: [1023, 1085], post: [1024, 1086], preun: [1025, 1087], postun: [1026, 1088] },
    } as Record<string, [number, number]>)) {
      expect(texts(tag)[0], script).toBe(readFileSync(`deploy/rpm/${script}`, "utf8"));
      expect(texts(interpreter), script).toEqual(["/bin/sh"]);
    }
  });

  test("names the architecture of the program, and a release without the feature of prereleases", async () => {
    const other = readRpm(
      readFileSync(await pack("arm64", { ...packageFacts, version: "1.2.3", architecture: "arm64" })),
    );
    expect([other.header.tags.get(1022), other.lead.readUInt16BE(8)]).toEqual([["aarch64"], 19]);
    expect(other.header.tags.get(1047)).toContain("transcribe(aarch-64)");
    expect(other.header.tags.get(1049)).not.toContain("rpmlib(TildeInVersions)");
  });

  test("is refused for a version that rpm can't compare, and for a file of 4 GiB", async () => {
    await expect(pack("dashes", { ...packageFacts, version: "1.2.3-rc-1" })).rejects.toThrow("1.2.3-rc-1");
    const path = join(directory.path, "large");
    closeSync(openSync(path, "w"));
    truncateSync(path, 2 ** 32);
    const target = join(directory.path, "large.rpm");
    const large = { path: "/usr/bin/large", mode: 0o100755, content: Bun.file(path), flags: 0, group: "root" };
    await expect(writeRpm(target, rpmMetadata(packageFacts, packageMaterials), [large])).rejects.toThrow(
      "/usr/bin/large has 4294967296 bytes; a file of an RPM package has less than 4 GiB",
    );
    expect(() => statSync(target)).toThrow("ENOENT");
  });
});

const bsdtar = await debianTool({
  ...{ program: "bsdtar", packages: ["libarchive-tools", "libarchive13"] },
  skipped: "another program's reading of the RPM package",
});
const busybox = await debianTool({
  ...{ program: "busybox", packages: ["busybox"] },
  skipped: "busybox's reading of the RPM package",
});

function run(command: readonly string[], options: { readonly cwd?: string; readonly stdin?: Uint8Array } = {}): string {
  const libraries = join(bsdtar ?? "", "usr/lib", `${process.arch === "x64" ? "x86_64" : "aarch64"}-linux-gnu`);
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], {
    cwd: options.cwd ?? directory.path,
    stdin: options.stdin ?? "ignore",
    env: { ...process.env, LD_LIBRARY_PATH: libraries, LC_ALL: "C", TZ: "UTC" },
  });
  expect([exitCode, stderr.toString()], command.join(" ")).toEqual([0, ""]);
  return stdout.toString("latin1");
}

describe.skipIf(bsdtar === null)("bsdtar", () => {
  test("lists and extracts the same files as the package's own list", async () => {
    const path = await pack("listed");
    const { members } = readRpm(readFileSync(path));
    const program = join(bsdtar ?? "", "usr/bin/bsdtar");
    expect(run([program, "-tf", path]).trim().split("\n")).toEqual(members.map(({ name }) => name));
    const listed = run([program, "-tvf", path]).trim().split("\n");
    expect(listed.filter((line) => !/^[-d]rw[x-]r-[x-](?:r-[x-]|---) /.test(line))).toEqual([]);
    const extracted = join(directory.path, "extracted");
    mkdirSync(extracted);
    run([program, "-xf", path, "-C", extracted]);
    for (const { name, mode, content } of members) {
      const found = statSync(join(extracted, name));
      expect(found.mode & 0o7777, name).toBe(mode & 0o7777);
      if (found.isFile()) expect(readFileSync(join(extracted, name)).equals(content), name).toBe(true);
    }
  });
});

describe.skipIf(busybox === null)("busybox", () => {
  const program = join(busybox ?? "", "bin/busybox");

  test("prints what the package says of itself, its files and its settings", async () => {
    const path = await pack("queried");
    const information = run([program, "rpm", "-qip", path]);
    expect(information).toMatch(/^Name\s*: transcribe\b/m);
    expect(information).toMatch(/^Version\s*: 1\.2\.3~rc\.1\b/m);
    expect(information).toMatch(/^License\s*: MIT AND Zlib$/m);
    expect(information).toContain("Self-hosted transcription appliance");
    const { members } = readRpm(readFileSync(path));
    const files = members.map(({ name }) => name.slice(1));
    expect(run([program, "rpm", "-qlp", path]).trim().split("\n")).toEqual(files);
    expect(run([program, "rpm", "-qcp", path])).toBe("/etc/transcribe/transcribe.toml\n");
  });

  test("unpacks the payload into the archive that the package says it has", async () => {
    const path = await pack("unpacked");
    const { archive } = readRpm(readFileSync(path));
    expect(run([program, "rpm2cpio", path]) === archive.toString("latin1")).toBe(true);
  });
});
