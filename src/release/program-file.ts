import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

const descriptionSchema = Type.Object(
  {
    version: Type.String({ pattern: "^\\d{1,6}\\.\\d{1,6}\\.\\d{1,6}(-[0-9A-Za-z.-]{1,40})?$" }),
    commit: Type.String({ pattern: "^([0-9a-f]{40}(-changed)?|unknown)$" }),
    target: Type.String({ pattern: "^[a-z0-9]{1,20}-[a-z0-9]{1,20}$" }),
    /** Names of the database's migrations that the program knows, in order. */
    migrations: Type.Array(Type.String({ pattern: "^[0-9a-z-]{1,80}$" }), { minItems: 1, maxItems: 1_000 }),
  },
  { additionalProperties: false },
);

/** The description that a program file contains, to be read without running the file. */
export type ProgramDescription = Static<typeof descriptionSchema>;

// The marks are put together at run time, so that this code, which every program contains, does not have them.
const BEGIN = mark("BEGIN");
const END = mark("END");

function mark(word: string): Buffer {
  return Buffer.from(`-----${word} ${["TRANSCRIBE", "PROGRAM"].join(" ")}-----\n`);
}

/** Largest description, with its marks. */
const MAX_DESCRIPTION_BYTES = 64 * 1024;
/** Most marks in a file that is searched. A program has one; a file full of them would take hours. */
const MAX_MARKS = 8;

/** Returns the text that scripts/build puts into a program file. */
export function markedDescription(description: ProgramDescription): string {
  const checked = Value.Parse(descriptionSchema, description);
  return `${BEGIN}${JSON.stringify(checked)}\n${END}`;
}

/** A file that may be a program. */
export interface ScannedFile {
  readonly sha256: string;
  /** Node's name of the machine's architecture in the ELF header; null for any other file. */
  readonly architecture: string | null;
  /** The valid descriptions in it: exactly one in a program of this product. */
  readonly descriptions: readonly ProgramDescription[];
}

/**
 * Reads a file once, computes its digest and looks for descriptions. Nothing of the file runs.
 * @throws {Error} when it is not a regular file, or cannot be read
 */
export async function scanProgramFile(path: string): Promise<ScannedFile> {
  // Without NONBLOCK, opening a pipe would wait for its other end.
  await using handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  if (!(await handle.stat()).isFile()) throw new Error(`${path} is not a regular file`);
  const digest = createHash("sha256");
  const found = new Map<number, ProgramDescription | null>();
  let header = Buffer.alloc(0);
  let window = Buffer.alloc(0);
  let offset = 0;
  for await (const chunk of handle.createReadStream({ highWaterMark: 1 << 20, autoClose: false })) {
    const bytes: Buffer = chunk;
    digest.update(bytes);
    if (header.length < 20) header = Buffer.concat([header, bytes.subarray(0, 20)]);
    window = Buffer.concat([window, bytes]);
    for (const [place, description] of descriptionsIn(window)) found.set(offset + place, description);
    if (found.size > MAX_MARKS) throw new Error(`${path} is not a program of this product`);
    const dropped = Math.max(0, window.length - MAX_DESCRIPTION_BYTES);
    window = window.subarray(dropped);
    offset += dropped;
  }
  return {
    sha256: digest.digest("hex"),
    architecture: architectureOf(header),
    descriptions: [...found.values()].filter((each) => each !== null),
  };
}

/** Returns the places of the first marks, and the descriptions after them; null where there is no valid one. */
function descriptionsIn(bytes: Buffer): [number, ProgramDescription | null][] {
  const found: [number, ProgramDescription | null][] = [];
  let begin = bytes.indexOf(BEGIN);
  while (begin >= 0 && found.length <= MAX_MARKS) {
    const rest = bytes.subarray(begin + BEGIN.length, begin + MAX_DESCRIPTION_BYTES);
    const end = rest.indexOf(END);
    found.push([begin, end < 0 ? null : parse(rest.toString("utf8", 0, end))]);
    begin = bytes.indexOf(BEGIN, begin + 1);
  }
  return found;
}

function parse(text: string): ProgramDescription | null {
  try {
    const value: unknown = JSON.parse(text);
    return Value.Check(descriptionSchema, value) ? value : null;
  } catch {
    return null;
  }
}

/** Machines of the ELF header (System V ABI) for which this product is built. */
const machines: Readonly<Record<number, string>> = { 62: "x64", 183: "arm64" };

function architectureOf(header: Buffer): string | null {
  // 64 bits, little-endian.
  const isElf = header.length >= 20 && header.subarray(0, 6).equals(Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1]));
  return isElf ? (machines[header.readUInt16LE(18)] ?? null) : null;
}
