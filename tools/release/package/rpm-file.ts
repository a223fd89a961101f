import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { encodeHeader, type HeaderEntry } from "./rpm-header.ts";
import { GZIP_LEVEL, type Payload, type RpmFile, writePayload } from "./rpm-payload.ts";

// The V4 format of RPM packages (rpm.org, "V4 Package format"): lead, signature, header, payload. The numbers of tags are
// those of rpm.org, "RPM Tags". Some tags of the signature have the numbers of other tags in the header.

/** A file or directory with its entry in rpm's database. */
export interface OwnedFile extends RpmFile {
  /** Sum of `fileFlags`. */
  readonly flags: number;
  readonly group: string;
}

/** Attributes of a file (rpmfileAttrs of rpm's API). */
export const fileFlags = { config: 1 << 0, documentation: 1 << 1, noReplace: 1 << 4, licence: 1 << 7 } as const;

/** A name that a package provides or needs. */
export interface Relation {
  readonly name: string;
  /** Sum of `relationFlags`. */
  readonly flags: number;
  /** Empty for any version. */
  readonly version: string;
}

/** Comparison with a version, and origin of a relation (rpmsenseFlags of rpm's API). */
export const relationFlags = {
  less: 1 << 1,
  equal: 1 << 3,
  interpreter: 1 << 8,
  pre: 1 << 9,
  post: 1 << 10,
  preun: 1 << 11,
  postun: 1 << 12,
  /** Of a library that a program needs. */
  library: 1 << 14,
  /** Of a feature of rpm itself. */
  rpmlib: 1 << 24,
} as const;

export interface RpmMetadata {
  readonly name: string;
  readonly version: string;
  readonly release: string;
  readonly architecture: "x86_64" | "aarch64";
  readonly summary: string;
  readonly description: string;
  /** An SPDX expression. */
  readonly licence: string;
  readonly packager: string;
  /** Time of everything in the package, in seconds. */
  readonly epoch: number;
  readonly change: string;
  readonly provides: readonly Relation[];
  readonly requires: readonly Relation[];
  readonly suggests: readonly Relation[];
  /** Scripts for the shell /bin/sh. */
  readonly scripts: Readonly<Record<"pre" | "post" | "preun" | "postun", string>>;
}

const SIGNATURE_REGION = 62;
const HEADER_REGION = 63;
/** SHA-256 in the list of digests of OpenPGP (RFC 9580, section 9.5). */
const SHA256 = 8;
/** rpm's numbers of architectures in the lead. */
const LEAD_ARCHITECTURES = { x86_64: 1, aarch64: 19 } as const;
const LEAD_BYTES = 96;
const LEAD_NAME_BYTES = 65;
/** Every property of a file is verified. */
const VERIFY_ALL = 0xffff_ffff;
/** A constant, because the name of the build machine would make packages differ. rpmbuild uses the same one. */
const BUILD_HOST = "reproducible";
/** First number that the size fields of a package can't hold. */
const SIZE_LIMIT = 2 ** 32;

/**
 * Writes an RPM package. The same files always give the same bytes. The payload is streamed: it is first written next to
 * the target, because the header before it contains its digest.
 * @throws {Error} when a file or the package has 4 GiB or more, or a file changes meanwhile
 */
export async function writeRpm(target: string, metadata: RpmMetadata, files: readonly OwnedFile[]): Promise<void> {
  // rpm finds files by a search in this order.
  const sorted = files.toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
  const work = await mkdtemp(join(dirname(target), ".rpm-"));
  try {
    const payloadFile = join(work, "payload");
    const payload = await writePayload(payloadFile, sorted, metadata.epoch);
    const header = encodeHeader(HEADER_REGION, [
      ...packageEntries(metadata, sorted),
      ...fileEntries(sorted, payload, metadata.epoch),
      ...payloadEntries(payload),
    ]);
    if (Math.max(payload.archiveBytes, header.length + payload.bytes) >= SIZE_LIMIT) {
      throw new Error("the files of the package are too large; an RPM package has less than 4 GiB");
    }
    const signature = await signatureOf(header, payloadFile, payload);
    const complete = join(work, "package");
    await pipeline(async function* () {
      yield Buffer.concat([lead(metadata), signature, Buffer.alloc(-signature.length & 7), header]);
      yield* createReadStream(payloadFile);
    }, createWriteStream(complete));
    await rename(complete, target);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Returns the lead, which only file(1) and old programs read. */
function lead({ name, version, release, architecture }: RpmMetadata): Buffer {
  const bytes = Buffer.alloc(LEAD_BYTES);
  // Magic number, version 3.0 of the lead, and the type of a binary package.
  bytes.write("edabeedb03000000", 0, "hex");
  bytes.writeUInt16BE(LEAD_ARCHITECTURES[architecture], 8);
  bytes.write(`${name}-${version}-${release}`, 10, LEAD_NAME_BYTES, "latin1");
  // Linux, and a signature in the form of a header.
  bytes.writeUInt16BE(1, 76);
  bytes.writeUInt16BE(5, 78);
  return bytes;
}

/** Returns the signature: sizes and digests of header and payload, without a signature of a person. */
async function signatureOf(header: Buffer, payloadFile: string, payload: Payload): Promise<Buffer> {
  const digest = (algorithm: "sha1" | "sha256") => new Bun.CryptoHasher(algorithm).update(header).digest("hex");
  const whole = new Bun.CryptoHasher("md5").update(header);
  for await (const piece of createReadStream(payloadFile)) whole.update(piece);
  return encodeHeader(SIGNATURE_REGION, [
    [269, "string", digest("sha1")],
    [273, "string", digest("sha256")],
    [1000, "int32", [header.length + payload.bytes]],
    [1004, "binary", whole.digest()],
    [1007, "int32", [payload.archiveBytes]],
  ]);
}

function packageEntries(metadata: RpmMetadata, files: readonly RpmFile[]): HeaderEntry[] {
  const { name, version, release, packager, epoch, scripts } = metadata;
  const fullVersion = `${version}-${release}`;
  return [
    [100, "strings", ["C"]],
    [1000, "string", name],
    [1001, "string", version],
    [1002, "string", release],
    [1004, "translated", metadata.summary],
    [1005, "translated", metadata.description],
    [1006, "int32", [epoch]],
    [1007, "string", BUILD_HOST],
    [1009, "int32", [files.reduce((sum, { content }) => sum + (content?.size ?? 0), 0)]],
    [1014, "string", metadata.licence],
    [1015, "string", packager],
    [1016, "translated", "Applications/Multimedia"],
    [1021, "string", "linux"],
    [1022, "string", metadata.architecture],
    // Without the name of a source package, rpm takes a package for one.
    [1044, "string", `${name}-${fullVersion}.src.rpm`],
    [1080, "int32", [epoch]],
    [1081, "strings", [`${packager} - ${fullVersion}`]],
    [1082, "strings", [`- ${metadata.change}`]],
    [5062, "string", "utf-8"],
    ...relationEntries([1047, 1113, 1112], metadata.provides),
    ...relationEntries([1049, 1050, 1048], metadata.requires),
    ...relationEntries([5049, 5050, 5051], metadata.suggests),
    ...[scripts.pre, scripts.post, scripts.preun, scripts.postun].flatMap((script, step): HeaderEntry[] => {
      return [
        [1023 + step, "string", script],
        [1085 + step, "string", "/bin/sh"],
      ];
    }),
  ];
}

function relationEntries(
  [names, versions, flags]: readonly [names: number, versions: number, flags: number],
  relations: readonly Relation[],
): HeaderEntry[] {
  // rpm merges lists of relations, which needs this order.
  const key = ({ name, version }: Relation) => Buffer.from(`${name}\0${version}`);
  const sorted = relations.toSorted((a, b) => Buffer.compare(key(a), key(b)) || a.flags - b.flags);
  const columns = <K extends keyof Relation>(key: K) => sorted.map((relation) => relation[key]);
  return [
    [names, "strings", columns("name")],
    [versions, "strings", columns("version")],
    [flags, "int32", columns("flags")],
  ];
}

/** Returns the list of files: one value of each tag for each file, and paths as a directory's number and a name. */
function fileEntries(files: readonly OwnedFile[], { fileDigests }: Payload, epoch: number): HeaderEntry[] {
  const directoryOf = ({ path }: RpmFile) => `${dirname(path)}/`;
  const order = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
  const directories = [...new Set(files.map(directoryOf))].sort(order);
  const numbers = (tag: number, pick: (file: OwnedFile, index: number) => number): HeaderEntry => [
    tag,
    "int32",
    files.map(pick),
  ];
  const names = (tag: number, pick: (file: OwnedFile) => string): HeaderEntry => [tag, "strings", files.map(pick)];
  const shorts = (tag: number, pick: (file: OwnedFile) => number): HeaderEntry => [tag, "int16", files.map(pick)];
  return [
    numbers(1028, ({ content }) => content?.size ?? 0),
    shorts(1030, ({ mode }) => mode),
    // Device numbers of device files, of which there are none.
    shorts(1033, () => 0),
    numbers(1034, () => epoch),
    [1035, "strings", fileDigests],
    // Targets of symbolic links, of which there are none.
    names(1036, () => ""),
    numbers(1037, ({ flags }) => flags),
    names(1039, () => "root"),
    names(1040, ({ group }) => group),
    numbers(1045, () => VERIFY_ALL),
    // Files with the same device and inode would be hard links.
    numbers(1095, () => 1),
    numbers(1096, (_, index) => index + 1),
    // Every language.
    names(1097, () => ""),
    numbers(1116, (file) => directories.indexOf(directoryOf(file))),
    names(1117, ({ path }) => basename(path)),
    [1118, "strings", directories],
    [5011, "int32", [SHA256]],
  ];
}

function payloadEntries({ sha256 }: Payload): HeaderEntry[] {
  return [
    [1124, "string", "cpio"],
    [1125, "string", "gzip"],
    [1126, "string", String(GZIP_LEVEL)],
    [5092, "strings", [sha256]],
    [5093, "int32", [SHA256]],
  ];
}
