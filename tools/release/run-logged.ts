import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";

/** Number of lines of a failed command's output in its error. */
const LAST_LINES = 12;

/** A command of a release step. */
export interface LoggedCommand {
  readonly command: readonly string[];
  readonly cwd: string;
  /** Variables in addition to the inherited environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Runs a command and writes all its output to a log.
 * @returns its output
 * @throws {Error} with the last lines, when it fails
 */
export async function runLogged(log: string, { command, cwd, env = {} }: LoggedCommand): Promise<string> {
  await mkdir(dirname(log), { recursive: true });
  const file = createWriteStream(log, { flags: "a" });
  const child = Bun.spawn([...command], {
    ...{ cwd, env: { ...process.env, ...env } },
    ...{ stdin: "ignore", stdout: "pipe", stderr: "pipe" },
  });
  let output = "";
  const collect = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const piece of stream) {
      file.write(piece);
      output += decoder.decode(piece, { stream: true });
    }
  };
  await Promise.all([collect(child.stdout), collect(child.stderr)]);
  const exitCode = await child.exited;
  await new Promise<void>((resolve) => file.end(resolve));
  if (exitCode === 0) return output;
  const last = output.trim().split("\n").slice(-LAST_LINES).join("\n");
  throw new Error(`${command.join(" ")} failed with ${exitCode ?? child.signalCode}; log: ${log}\n${last}`);
}
