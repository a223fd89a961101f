import { basename } from "node:path";
import { messageOf } from "../text/index.ts";
import { type MinisignKey, SignatureError, verifySignature } from "./minisign.ts";
import type { ProgramDescription } from "./program-file.ts";
import { type FileKind, fileKinds, type ScannedFile } from "./scan-file.ts";

/** One check of a program file or package: its result is null when there was nothing to check it with. */
interface ProgramCheck {
  readonly name: "signature" | "checksum" | "program" | "platform" | "database";
  readonly ok: boolean | null;
  readonly detail: string;
}

/** The list of checksums next to a program file. */
export interface ChecksumList {
  readonly content: Uint8Array;
  /** Contents of its .minisig file; null if there is none. */
  readonly signature: string | null;
}

/** The database that the program file is to serve. */
export interface DatabaseToServe {
  /** Program version that last served it. */
  readonly version: string;
  /** Names of its applied migrations, in order. */
  readonly migrations: readonly string[];
}

export interface VerifyOptions {
  readonly path: string;
  readonly file: ScannedFile;
  readonly list: ChecksumList;
  /** Null to leave the signature unchecked. */
  readonly key: MinisignKey | null;
  /** e.g. `linux-x64` */
  readonly platform: string;
  /** Null when there is no database; a text when it cannot be read. */
  readonly database: DatabaseToServe | string | null;
  readonly allowOlder: boolean;
}

/** The program of a file, if it can be believed, and all checks of it. */
export interface VerifiedProgram {
  readonly description: ProgramDescription | null;
  /** Kind of the file; null without a description. */
  readonly kind: FileKind | null;
  readonly checks: readonly ProgramCheck[];
}

/**
 * Checks a program file, or a package with the program, against the list of checksums, the list against its signature,
 * and the program's description against this machine. A description counts only if the checksum is right.
 */
export function verifyProgram(options: VerifyOptions): VerifiedProgram {
  const checks = [checkSignature(options), checkChecksum(options)];
  const failed = (...more: ProgramCheck[]) => ({ description: null, kind: null, checks: [...checks, ...more] });
  if (checks.some(({ ok }) => ok === false)) return failed();
  const { found } = options.file;
  if (typeof found === "string") {
    return failed({ name: "program", ok: false, detail: `this is no Transcribe program: ${found}` });
  }
  const { kind, architecture, descriptions } = found;
  const [description, ...others] = descriptions;
  if (description === undefined || others.length > 0 || architecture === null) {
    const detail = "this is no Transcribe program, or one of 0.2.0 or before";
    return failed({ name: "program", ok: false, detail });
  }
  const { version, commit } = description;
  const container = kind === "program" ? "" : `${fileKinds[kind]} with `;
  checks.push(
    { name: "program", ok: true, detail: `${container}transcribe ${version}, commit ${commit}` },
    checkPlatform(description, architecture, options),
    checkDatabase(description, options),
  );
  return { description, kind, checks };
}

function checkSignature({ list, key }: VerifyOptions): ProgramCheck {
  const name = "signature";
  if (key === null) {
    return { name, ok: null, detail: "not checked: give --key. A checksum alone shows damage, but no forgery" };
  }
  if (list.signature === null)
    return { name, ok: false, detail: "the list of checksums has no .minisig file next to it" };
  try {
    const comment = verifySignature(list.content, list.signature, key);
    return { name, ok: true, detail: `by the key ${key.id}: ${comment}` };
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error;
    return { name, ok: false, detail: messageOf(error) };
  }
}

/** A line of sha256sum, for text or binary files. */
const checksumLine = /^([0-9a-f]{64}) [ *](.+)$/;

function checkChecksum({ path, file, list }: VerifyOptions): ProgramCheck {
  const name = "checksum";
  const lines = Buffer.from(list.content).toString("utf8").split("\n");
  const listed = lines.flatMap((line) => {
    const [, sha256, file] = checksumLine.exec(line) ?? [];
    return file === basename(path) ? [sha256] : [];
  });
  if (listed.length !== 1) {
    return { name, ok: false, detail: `the list has ${listed.length} checksums of ${basename(path)}, not one` };
  }
  return listed[0] === file.sha256
    ? { name, ok: true, detail: `SHA-256 ${file.sha256}` }
    : { name, ok: false, detail: `the file's SHA-256 is ${file.sha256}, the list has ${listed[0]}` };
}

function checkPlatform(
  { target }: ProgramDescription,
  architecture: string,
  { platform }: VerifyOptions,
): ProgramCheck {
  const ok = target.endsWith(`-${architecture}`) && target === platform;
  return { name: "platform", ok, detail: ok ? target : `the program is for ${target}, this machine is ${platform}` };
}

function checkDatabase(next: ProgramDescription, { database, allowOlder }: VerifyOptions): ProgramCheck {
  const name = "database";
  if (database === null) return { name, ok: null, detail: "not checked: there is no database" };
  const older = typeof database === "string" ? database : olderThan(next, database);
  if (older === null) return { name, ok: true, detail: "the program is not older than the database" };
  return { name, ok: allowOlder ? null : false, detail: allowOlder ? `${older}; allowed` : older };
}

/** Returns the reason for which a program is older than a database; null if it is not. */
function olderThan({ version, migrations }: ProgramDescription, database: DatabaseToServe): string | null {
  const unknown = database.migrations.find((applied, position) => migrations[position] !== applied);
  if (unknown !== undefined) return `the program does not know the database's migration ${unknown}`;
  const isOlder = database.version !== "unknown" && Bun.semver.order(version, database.version) < 0;
  return isOlder
    ? `the program's version ${version} is older than ${database.version}, which served the database`
    : null;
}
