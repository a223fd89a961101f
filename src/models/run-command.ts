/** A command that could not be started or ended with an error; the message has the end of what it wrote. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

export interface CommandOptions {
  readonly cwd?: string;
  /** Killed after so long. Default: never. */
  readonly timeoutMs?: number;
}

/** Runs a command without a shell and with nothing to read, and returns what it wrote to its output. Throws `CommandError`. */
export async function runCommand(command: readonly string[], options: CommandOptions = {}): Promise<string> {
  const [program = ""] = command;
  if (!Bun.which(program)) throw new CommandError(`${program} is not installed`);
  const child = Bun.spawn([...command], {
    // Named, since Bun otherwise hands on the environment that it was itself started with.
    env: process.env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    ...(options.cwd && { cwd: options.cwd }),
    ...(options.timeoutMs && { timeout: options.timeoutMs, killSignal: "SIGKILL" as const }),
  });
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (child.exitCode !== 0) {
    const how = child.signalCode ? `was ended by ${child.signalCode}` : `failed with status ${child.exitCode}`;
    throw new CommandError(`${command.slice(0, 4).join(" ")} ${how}: ${lastLines(errors || output)}`);
  }
  return output;
}

function lastLines(text: string): string {
  return text.trim().split("\n").slice(-3).join(" / ").slice(-600);
}
