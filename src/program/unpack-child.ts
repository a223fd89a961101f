import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { messageOf } from "../text/index.ts";
import type { EmbeddedPart } from "./embedded.ts";
import { ownCommand } from "./own-command.ts";
import { UnpackError } from "./unpack-error.ts";
import { writePart } from "./write-part.ts";

const partsSchema = Type.Array(
  Type.Object({
    path: Type.String(),
    bytes: Type.Integer(),
    sha256: Type.String(),
    executable: Type.Boolean(),
    packed: Type.String(),
  }),
);

/** The reason why the child process could not write the parts. */
const refusalSchema = Type.Object({
  message: Type.String(),
  /** Error code of the file system; empty when the program itself is at fault. */
  code: Type.String(),
});

/**
 * Writes parts into existing directories, in a child process of this program. Packed parts are read from this program's
 * own file. Hundreds of megabytes of it would count as the reader's memory for as long as the reader lives.
 * @param directory the parts' paths are below it
 * @throws {UnpackError} @throws the file system's error
 */
export async function writePartsAside(directory: string, parts: readonly EmbeddedPart[]): Promise<void> {
  const child = Bun.spawn(ownCommand("__unpack", directory, JSON.stringify(parts)), {
    // Closes when this process exits for any reason; the child then exits, too.
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
  });
  const [said] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  if (child.exitCode === 0) return;
  const { message, code } = refusalIn(said) ?? {
    message: `this program's parts were not unpacked: the process that does it was ended by ${child.signalCode ?? "itself"}; see that there is memory, and start again`,
    code: "",
  };
  if (code !== "") throw Object.assign(new Error(message), { code });
  throw new UnpackError(message);
}

function refusalIn(said: string): Static<typeof refusalSchema> | null {
  try {
    const refusal: unknown = JSON.parse(said);
    return Value.Check(refusalSchema, refusal) ? refusal : null;
  } catch {
    return null;
  }
}

/**
 * Runs the child process with the arguments `DIRECTORY PARTS`, and exits. On failure, the exit code is 1 and standard
 * output has the reason.
 */
export async function runUnpack([directory = "", list = ""]: readonly string[]): Promise<never> {
  process.stdin.on("end", () => process.exit(1)).resume();
  try {
    for (const part of Value.Parse(partsSchema, JSON.parse(list))) await writePart(part, `${directory}/${part.path}`);
  } catch (error) {
    const code = !(error instanceof UnpackError) && error instanceof Error && "code" in error ? String(error.code) : "";
    await Bun.write(Bun.stdout, JSON.stringify({ message: messageOf(error), code }));
    process.exit(1);
  }
  process.exit(0);
}
