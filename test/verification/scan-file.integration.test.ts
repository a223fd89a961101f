import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { tar } from "../../src/files/index.ts";
import { scanBytes } from "../../src/verification/scan-file.ts";
import { writeImageArchive } from "../../tools/release/container/archives.ts";
import { packPackage, writeAptRepository } from "../../tools/release/package/debian-package.ts";
import { writeRpm } from "../../tools/release/package/rpm-file.ts";
import { rpmMetadata } from "../../tools/release/package/rpm-package.ts";
import { packTree } from "../../tools/shared/pack-tree.ts";
import { packageFacts, packFiles, programFile } from "../support/program-file.ts";
import { packageMaterials } from "../support/small-program.ts";

const program = programFile();
const MIB = 1024 * 1024;

/** Scans bytes that arrive in pieces of the given size. */
function scan(file: Buffer, pieceBytes = MIB) {
  async function* pieces() {
    for (let at = 0; at < file.length; at += pieceBytes) yield file.subarray(at, at + pieceBytes);
  }
  return scanBytes(pieces());
}

type TarFile = readonly [name: string, content: Buffer, sizeBytes?: number];

/** Returns a tar archive. A longer size than the content's makes it a damaged one. */
function tarOf(...files: readonly TarFile[]): Buffer {
  const parts = files.flatMap(([name, content, sizeBytes = content.length]) => [
    tar.header({ name, sizeBytes }),
    content,
    Buffer.alloc(tar.padding(content.length)),
  ]);
  return Buffer.concat([...parts, Buffer.alloc(2 * tar.BLOCK_BYTES)]);
}

function arOf(...members: readonly (readonly [name: string, content: Buffer])[]): Buffer {
  const parts = members.flatMap(([name, content]) => [
    Buffer.from(`${name.padEnd(16)}${"0".padEnd(32)}${String(content.length).padEnd(10)}\`\n`),
    content,
    Buffer.alloc(content.length % 2, "\n"),
  ]);
  return Buffer.concat([Buffer.from("!<arch>\n"), ...parts]);
}

/** Returns a Debian package with these files. */
function debOf(...files: readonly TarFile[]): Buffer {
  return arOf(["debian-binary", Buffer.from("2.0\n")], ["data.tar.gz", gzip(tarOf(...files))]);
}

const gzip = (bytes: Buffer) => Buffer.from(Bun.gzipSync(new Uint8Array(bytes)));

/** Changes a tar archive's first header and corrects its sum. */
function withHeader(archive: Buffer, at: number, bytes: string): Buffer {
  const changed = Buffer.from(archive);
  changed.write(bytes, at, "latin1");
  changed.write("        ", 148, "latin1");
  const sum = changed.subarray(0, tar.BLOCK_BYTES).reduce((total, byte) => total + byte, 0);
  changed.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return changed;
}

const path = "./usr/bin/transcribe";

/** Returns an RPM package of the files. */
async function rpmOf(directory: string, files: Readonly<Record<string, Buffer>>): Promise<Buffer<ArrayBuffer>> {
  const target = join(directory, "package.rpm");
  const owned = Object.entries(files).map(([path, content]) => ({
    ...{ path, mode: 0o100755, flags: 0, group: "root", content: new Blob([new Uint8Array(content)]) },
  }));
  await writeRpm(target, rpmMetadata(packageFacts, packageMaterials), owned);
  return readFileSync(target);
}

describe("a scan", () => {
  test.each<[string, Buffer, string]>([
    ["an empty file", Buffer.alloc(0), "neither a program nor a package"],
    ["a zip archive", Buffer.from(`PK\x03\x04${"\0".repeat(600)}`), "neither a program nor a package"],
    ["a package without the program", debOf(["./usr/bin/other", program]), "has no program"],
    ["a package with the program elsewhere", debOf(["./bin/transcribe", program]), "has no program"],
    ["a package with two programs", debOf([path, program], ["usr//bin/./transcribe", program]), "several programs"],
    ["a package in a package", debOf(["./transcribe.deb", debOf([path, program])]), "has no program"],
    ["a package without files", arOf(["debian-binary", Buffer.from("2.0\n")]), "has no program"],
    ["files packed with xz", arOf(["data.tar.xz", Buffer.from("xz")]), "not compressed with gzip"],
    ["files that are no gzip", arOf(["data.tar.gz", tarOf([path, program])]), "compressed data is damaged"],
    [
      "gzip that is cut off",
      arOf(["data.tar.gz", gzip(tarOf([path, program])).subarray(0, -9)]),
      "compressed data is damaged",
    ],
    ["gzip without an archive", arOf(["data.tar.gz", gzip(Buffer.alloc(600, "a"))]), "header in it is damaged"],
    ["a program that is cut off", debOf([path, program, 10 * MIB]), "cut off"],
    [
      "a repository of two packages",
      tarOf(["a.deb", debOf([path, program])], ["b.deb", debOf([path, program])]),
      "several",
    ],
    ["a repository in a repository", tarOf(["a.tar", tarOf(["b.deb", debOf([path, program])])]), "has no program"],
    ["an archive of a program", tarOf([path, program]), "has no program"],
    ["a member of a type that nobody writes", withHeader(tarOf(["a", program]), 156, "x"), "unknown type"],
    ["a directory with content", withHeader(tarOf(["a", program]), 156, "5"), "unknown type"],
    ["a size in base 256", withHeader(tarOf(["a", program]), 124, "\x80"), "header in it is damaged"],
    ["a wrong sum of a header", Buffer.from(tarOf(["a", program])).fill("b", 0, 1), "header in it is damaged"],
    ["a name without end", withHeader(tarOf(["a", Buffer.alloc(5000)]), 156, "L"), "header in it is damaged"],
    [
      "a size that is no number",
      Buffer.from(`!<arch>\n${"data.tar.gz".padEnd(48)}-1        \`\n`),
      "header in it is damaged",
    ],
    [
      "too many members",
      tarOf(...Array.from({ length: 20_001 }, () => ["a", Buffer.alloc(0)] as const)),
      "more than 20000",
    ],
  ])("refuses %s", async (_, file, reason) => {
    expect(await scan(file)).toEqual({
      sha256: createHash("sha256").update(file).digest("hex"),
      found: expect.stringContaining(reason),
    });
  });

  test("of gzip that unpacks to more than 2 GiB stops there, in bounded memory", async () => {
    const zeros = gzip(Buffer.alloc(64 * MIB));
    const size = 64 * MIB * 40;
    const start = gzip(Buffer.from(tar.header({ name: "a", sizeBytes: size })));
    const bomb = arOf(["data.tar.gz", Buffer.concat([start, ...Array.from({ length: 40 }, () => zeros)])]);
    const before = process.memoryUsage().rss;
    expect((await scan(bomb)).found).toContain("unpacks to more than");
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * MIB);
  }, 60_000);
});

const canPack = ["dpkg-deb", "dpkg-scanpackages"].every((name) => Bun.which(name) !== null);
if (!canPack) console.warn("SKIPPED: scanning a package; missing: dpkg-deb or dpkg-scanpackages");

describe.skipIf(!canPack)("a scan of", () => {
  const scope = temporaryDirectory();
  afterAll(() => scope[Symbol.dispose]());
  const long = `usr/share/doc/transcribe/${"long-".repeat(25)}`;
  let deb = Buffer.alloc(0);
  let apt = Buffer.alloc(0);
  let rpm = Buffer.alloc(0);

  beforeAll(async () => {
    const tree = join(scope.path, "package");
    const file = await packFiles(tree, { "usr/bin/transcribe": program, [long]: Buffer.from("a text") });
    deb = readFileSync(file);
    await writeAptRepository(`${file}.apt.tar`, file, packageFacts);
    apt = readFileSync(`${file}.apt.tar`);
    rpm = await rpmOf(scope.path, { "/usr/bin/transcribe": program, [`/${long}`]: Buffer.from("a text") });
  });

  test("a package, a repository and an image finds their program, whatever the size of the pieces", async () => {
    const root = join(scope.path, "root");
    mkdirSync(join(root, "usr/local/bin"), { recursive: true });
    writeFileSync(join(root, "usr/local/bin/transcribe"), program);
    symlinkSync("usr/lib", join(root, "lib"));
    await packTree(`${root}.tar`, root);
    const image = `${root}.oci.tar`;
    const config = {} as Parameters<typeof writeImageArchive>[1]["config"];
    await writeImageArchive(image, {
      layers: [`${root}.tar`],
      config,
      architecture: "amd64",
      reference: "transcribe:1",
    });
    for (const [kind, file] of [
      ["debian_package", deb],
      ["apt_repository", apt],
      ["rpm_package", rpm],
      ["container_image", readFileSync(image)],
    ] as const) {
      for (const pieceBytes of [MIB, 511, 7]) {
        const { sha256, found } = await scan(file, pieceBytes);
        expect(found).toMatchObject({ kind, architecture: process.arch, descriptions: [{ version: "99.0.0" }] });
        expect(sha256).toBe(createHash("sha256").update(file).digest("hex"));
      }
    }
  });

  test("an RPM package without the program, or with damaged headers, is refused", async () => {
    const other = await rpmOf(scope.path, { "/usr/bin/other": program });
    expect((await scan(other)).found).toContain("has no program");
    const endless = Buffer.from(rpm);
    endless.fill(0xff, 96 + 8, 96 + 16);
    expect((await scan(endless)).found).toContain("cut off");
    const noHeader = Buffer.from(rpm).fill(0, 96, 100);
    expect((await scan(noHeader)).found).toContain("header in it is damaged");
  });

  test("a package with a link in the program's place is refused", async () => {
    const tree = join(scope.path, "linked");
    await packFiles(tree, { "usr/lib/program": program });
    mkdirSync(join(tree, "usr/bin"));
    symlinkSync("../lib/program", join(tree, "usr/bin/transcribe"));
    await packPackage(tree, `${tree}.deb`, packageFacts);
    expect((await scan(readFileSync(`${tree}.deb`))).found).toContain("no regular file");
  });

  test("a package that was cut off anywhere is refused", async () => {
    for (const [file, end, step] of [
      [deb, deb.length, 1],
      [rpm, rpm.length, 1],
      // tar fills the end with zeros, which nobody misses.
      [apt, apt.length - 10 * 1024, 101],
    ] as const) {
      for (let length = 0; length < end; length += step) {
        expect(typeof (await scan(file.subarray(0, length))).found, `${length} bytes`).toBe("string");
      }
    }
  }, 60_000);

  test("a package with a changed byte gives the same program or a refusal, and always the digest", async () => {
    for (const [file, step] of [
      [deb, 1],
      [rpm, 1],
      [apt, 37],
    ] as const) {
      const { found: right } = await scan(file);
      if (typeof right === "string") throw new Error(right);
      let refused = 0;
      for (let at = 0; at < file.length; at += step) {
        const changed = Buffer.from(file);
        changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
        const { sha256, found } = await scan(changed);
        expect(sha256).toBe(createHash("sha256").update(changed).digest("hex"));
        if (typeof found === "string") refused += 1;
        else expect(found, `byte ${at}`).toEqual(right);
      }
      expect(refused).toBeGreaterThan(100);
    }
  }, 60_000);
});
