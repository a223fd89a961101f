/**
 * Runs a script of the tests in a process of its own.
 * @returns the lines that it prints
 * @throws {Error} if it crashes or fails
 */
export async function linesOf(
  script: string,
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const child = Bun.spawn([process.execPath, script, ...args], {
    ...{ stdin: "ignore", stdout: "pipe", stderr: "inherit" },
    // With variables that a test has set, such as those of a simulated GPU.
    env: { ...process.env, ...environment },
  });
  const lines = (await new Response(child.stdout).text()).trim().split("\n");
  const exitCode = await child.exited;
  if (exitCode !== 0) throw new Error(`${script} ended with ${child.signalCode ?? exitCode}`);
  return lines;
}
