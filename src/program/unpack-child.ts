import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createZstdDecompress } from "node:zlib";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { codeOf, isSystemError, messageOf, valueOr } from "../text/index.ts";
import { type EmbeddedPart, partSchema } from "./contents.ts";
import { ownCommand, UnpackError } from "./own-program.ts";

/** The reason why the child process could not write the parts. */
const failureSchema = Type.Object({
  message: Type.String(),
  /** Error code of the file system; empty when the program itself is at fault. */
  code: Type.String(),
});

/** Descriptor under which the child process inherits the single file. */
const FILE_DESCRIPTOR = 3;

/**
 * Writes parts into existing directories, in a child process of this program, which takes the decoder's memory with it.
 * @param directory the parts' paths are below it
 * @param file the single file with the packed parts, open for reading
 * @throws {UnpackError} @throws the file system's error
 */
export async function writePartsInChild(
  directory: string,
  parts: readonly EmbeddedPart[],
  file: number,
): Promise<void> {
  const child = Bun.spawn(ownCommand("__unpack", directory, JSON.stringify(parts)), {
    // Standard input closes when this process exits for any reason; the child then exits, too.
    stdio: ["pipe", "pipe", "ignore", file],
  });
  const [output] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  if (child.exitCode === 0) return;
  const { message, code } = failureIn(output) ?? {
    message: `this program's parts were not unpacked: the child process ended with ${child.signalCode ?? `exit code ${child.exitCode}`}; check that enough memory is free, and start again`,
    code: "",
  };
  if (code !== "") throw Object.assign(new Error(message), { code });
  throw new UnpackError(message);
}

function failureIn(output: string): Static<typeof failureSchema> | null {
  const failure: unknown = valueOr(() => JSON.parse(output), null);
  return Value.Check(failureSchema, failure) ? failure : null;
}

/**
 * Runs the child process with the arguments `DIRECTORY PARTS`, and exits. On failure, the exit code is 1 and standard
 * output has the reason.
 */
export async function runUnpack([directory = "", list = ""]: readonly string[]): Promise<never> {
  process.stdin.on("end", () => process.exit(1)).resume();
  try {
    const parts = Value.Parse(Type.Array(partSchema), JSON.parse(list));
    for (const part of parts) await writePart(part, `${directory}/${part.path}`);
  } catch (error) {
    await Bun.write(Bun.stdout, JSON.stringify({ message: messageOf(error), code: codeOf(error) }));
    process.exit(1);
  }
  process.exit(0);
}

/**
 * Unpacks one part into a new file, chunk by chunk, and syncs it to the disk.
 * @throws {UnpackError} when the result differs from what was packed
 * @throws the file system's error
 */
async function writePart(part: EmbeddedPart, path: string): Promise<void> {
  const { offset, packedBytes, bytes, sha256, executable } = part;
  const file = await open(path, "wx", executable ? 0o500 : 0o400);
  try {
    const hasher = new Bun.CryptoHasher("sha256");
    let written = 0;
    const unpack = createZstdDecompress({ chunkSize: 1 << 20 });
    const range = { start: offset, end: offset + packedBytes - 1, highWaterMark: 1 << 20 };
    const packed = createReadStream("", { fd: FILE_DESCRIPTOR, autoClose: false, ...range });
    await pipeline(packed, unpack, async (chunks: AsyncIterable<Uint8Array>) => {
      for await (const chunk of chunks) {
        hasher.update(chunk);
        await file.appendFile(chunk);
        written += chunk.length;
      }
    });
    if (written !== bytes || hasher.digest("hex") !== sha256)
      throw new Error("the unpacked bytes differ from the packed ones");
    await file.sync();
  } catch (error) {
    // Errors of zstd have a code, too, but come from no system call.
    if (isSystemError(error)) throw error;
    const why = messageOf(error);
    throw new UnpackError(
      `this program's file is damaged, or was overwritten while this process ran (${why}): start it again, or else copy it again and compare it with SHA256SUMS`,
    );
  } finally {
    await file.close();
  }
}
