/** A command could not be started or failed; the message contains the end of the command's output. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

export interface CommandOptions {
  readonly cwd?: string;
  /** Time after which the command is killed. Default: never. */
  readonly timeoutMs?: number;
}

/** Runs a command without a shell and with empty input. @returns its standard output @throws {CommandError} */
export async function runCommand(command: readonly string[], options: CommandOptions = {}): Promise<string> {
  const [program = ""] = command;
  if (!Bun.which(program)) throw new CommandError(`${program} is not installed`);
  const child = Bun.spawn([...command], {
    // Passed explicitly, because by default Bun passes the environment of its own start.
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
    const failure = child.signalCode ? `was killed by ${child.signalCode}` : `failed with status ${child.exitCode}`;
    throw new CommandError(`${command.slice(0, 4).join(" ")} ${failure}: ${lastLines(errors || output)}`);
  }
  return output;
}

/** Runs a command that takes a moment. @returns its standard output @throws {Error} when it fails */
export function runAtOnce(...command: readonly string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command]);
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
  return stdout.toString();
}

function lastLines(text: string): string {
  return text.trim().split("\n").slice(-3).join(" / ").slice(-600);
}
