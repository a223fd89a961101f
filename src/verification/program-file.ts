import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type ByteStream, FormatError } from "./byte-stream.ts";

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

/** A file with the header of a program. */
export interface ScannedProgram {
  /** Node's name of the machine's architecture in the ELF header; null for a machine that this product does not know. */
  readonly architecture: string | null;
  /** The valid descriptions in it: exactly one in a program of this product. */
  readonly descriptions: readonly ProgramDescription[];
}

/**
 * Reads a program and looks for its descriptions.
 * @throws {FormatError} when it has more marks than a program
 */
export async function scanProgram(program: ByteStream): Promise<ScannedProgram> {
  const architecture = architectureOf(await program.peek(HEADER_BYTES));
  const found = new Map<number, ProgramDescription | null>();
  let window = Buffer.alloc(0);
  let offset = 0;
  for await (const bytes of program.pieces()) {
    window = Buffer.concat([window, bytes]);
    for (const [place, description] of descriptionsIn(window)) found.set(offset + place, description);
    if (found.size > MAX_MARKS) throw new FormatError("it has too many descriptions");
    const dropped = Math.max(0, window.length - MAX_DESCRIPTION_BYTES);
    window = window.subarray(dropped);
    offset += dropped;
  }
  return { architecture, descriptions: [...found.values()].filter((each) => each !== null) };
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

/** Bytes of the ELF header up to and with the machine. */
const HEADER_BYTES = 20;
/** Machines of the ELF header (System V ABI) for which this product is built. */
const machines: Readonly<Record<number, string>> = { 62: "x64", 183: "arm64" };

/** Returns whether a file with these first bytes is a program for 64 bits, little-endian. */
export function isElf(start: Buffer): boolean {
  return start.length >= HEADER_BYTES && start.toString("latin1", 0, 6) === "\x7fELF\x02\x01";
}

function architectureOf(header: Buffer): string | null {
  return isElf(header) ? (machines[header.readUInt16LE(18)] ?? null) : null;
}
