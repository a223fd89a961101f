import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { normalize } from "node:path/posix";
import { tar } from "../files/index.ts";
import { packagePaths, servicePaths } from "../install/index.ts";
import {
  arMembers,
  cpioMembers,
  gunzip,
  isAr,
  isRpm,
  type Member,
  skipRpmHeaders,
  tarMembers,
  UnpackingLimits,
} from "./archive-members.ts";
import { ByteStream, FormatError } from "./byte-stream.ts";
import { isElf, type ScannedProgram, scanProgram } from "./program-file.ts";

/** The kinds of files that contain a program, with their names for people. */
export const fileKinds = {
  program: "program",
  debian_package: "Debian package",
  apt_repository: "apt repository",
  rpm_package: "RPM package",
  container_image: "container image",
} as const;

export type FileKind = keyof typeof fileKinds;

/** A program, and the kind of file in which it was found. */
interface FoundProgram extends ScannedProgram {
  readonly kind: FileKind;
}

/** A file that may be a program, or a package with one. */
export interface ScannedFile {
  /** Digest of the whole file. */
  readonly sha256: string;
  /** The only program in the file; a text with the reason when there is none. */
  readonly found: FoundProgram | string;
}

/**
 * Reads a file once, computes its digest and looks for a program. Nothing of the file runs or is written to the disk.
 * @throws {Error} when it is not a regular file, or cannot be read
 */
export async function scanProgramFile(path: string): Promise<ScannedFile> {
  // Without NONBLOCK, opening a pipe would wait for its other end.
  await using handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  if (!(await handle.stat()).isFile()) throw new Error(`${path} is not a regular file`);
  return await scanBytes(handle.createReadStream({ highWaterMark: 1 << 20, autoClose: false }));
}

/** Does the work of `scanProgramFile` for bytes that come from anywhere. */
export async function scanBytes(source: AsyncIterable<Buffer>): Promise<ScannedFile> {
  const digest = createHash("sha256");
  async function* digested(): AsyncGenerator<Buffer> {
    for await (const piece of source) {
      digest.update(piece);
      yield piece;
    }
  }
  const file = new ByteStream(digested());
  const found = await findProgram(file).catch((error: unknown) => {
    if (error instanceof FormatError) return error.message;
    throw error;
  });
  // A damaged file has a digest, too: the checksum then tells that it was damaged.
  await file.skip();
  return { sha256: digest.digest("hex"), found };
}

async function findProgram(file: ByteStream): Promise<FoundProgram> {
  let found: FoundProgram | null = null;
  for await (const { kind, content } of programsIn(file)) {
    if (found !== null) throw new FormatError("it has several programs");
    const { architecture, descriptions } = await scanProgram(content);
    found = { kind, architecture, descriptions };
  }
  if (found === null) throw new FormatError("it has no program");
  return found;
}

interface PackagedProgram {
  readonly kind: FileKind;
  /** Can be read until the next program is requested. */
  readonly content: ByteStream;
}

/** Returns the programs in a file of any kind. Its first bytes determine the kind. */
async function* programsIn(file: ByteStream): AsyncGenerator<PackagedProgram> {
  const start = await file.peek(512);
  const limits = new UnpackingLimits();
  if (isElf(start)) yield { kind: "program", content: file };
  else if (isAr(start)) yield* programsInDebianPackage(file, "debian_package", limits);
  else if (isRpm(start)) yield* programsInRpmPackage(file, limits);
  else if (tar.isTar(start)) yield* programsInArchive(file, limits);
  else throw new FormatError("it is neither a program nor a package that this version can read");
}

/** Returns the programs in a tar archive of packages or of an image's layers. */
async function* programsInArchive(archive: ByteStream, limits: UnpackingLimits): AsyncGenerator<PackagedProgram> {
  for await (const { content } of tarMembers(archive, limits)) {
    const start = await content.peek(512);
    if (isAr(start)) yield* programsInDebianPackage(content, "apt_repository", limits);
    else if (tar.isTar(start)) yield* programsAt(servicePaths.program, tarMembers(content, limits), "container_image");
  }
}

/** Returns the programs in a Debian package (deb(5)) of the kind that scripts/package writes. */
async function* programsInDebianPackage(
  deb: ByteStream,
  kind: FileKind,
  limits: UnpackingLimits,
): AsyncGenerator<PackagedProgram> {
  for await (const { name, content } of arMembers(deb, limits)) {
    if (!name.startsWith("data.tar")) continue;
    if (name !== "data.tar.gz") throw new FormatError("its files are not compressed with gzip");
    const files = new ByteStream(gunzip(content, limits));
    yield* programsAt(packagePaths.program, tarMembers(files, limits), kind);
  }
}

/** Returns the programs in an RPM package of the kind that scripts/package writes. */
async function* programsInRpmPackage(rpm: ByteStream, limits: UnpackingLimits): AsyncGenerator<PackagedProgram> {
  await skipRpmHeaders(rpm);
  const files = new ByteStream(gunzip(rpm, limits));
  yield* programsAt(packagePaths.program, cpioMembers(files, limits), "rpm_package");
}

/** Returns the files that are installed at the path. */
async function* programsAt(
  path: string,
  members: AsyncIterable<Member>,
  kind: FileKind,
): AsyncGenerator<PackagedProgram> {
  for await (const { name, isFile, content } of members) {
    if (normalize(`/${name}`) !== path) continue;
    if (!isFile) throw new FormatError(`its ${path} is no regular file`);
    yield { kind, content };
  }
}
