/** Runs a command and returns its trimmed output; null when the command is not installed or fails. */
export async function outputOf(command: readonly string[], cwd: string): Promise<string | null> {
  if (Bun.which(command[0] ?? "") === null) return null;
  const child = Bun.spawn([...command], { cwd, stdin: "ignore", stdout: "pipe", stderr: "ignore" });
  const output = await new Response(child.stdout).text();
  return (await child.exited) === 0 ? output.trim() : null;
}
