/** How a process that may crash ended. */
export type Outcome =
  | { readonly ok: true; readonly output: string }
  | {
      readonly ok: false;
      readonly reason: string;
      /** It would end the same way again: the code crashed by itself and was not short of time or memory. */
      readonly lasting: boolean;
    };

/** Signals that the code brings upon itself; SIGKILL comes from outside, often for want of memory. */
const crashes = new Set<NodeJS.Signals | number>(["SIGILL", "SIGSEGV", "SIGBUS", "SIGFPE", "SIGABRT", "SIGTRAP"]);

/** Runs a command to its end, or to the timeout's, and tells how it ended. Never throws because of what it does. */
export async function attempt(command: readonly string[], timeoutMilliseconds: number): Promise<Outcome> {
  const child = Bun.spawn([...command], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: timeoutMilliseconds,
    killSignal: "SIGKILL",
  });
  const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  await child.exited;
  if (child.exitCode === 0) {
    return { ok: true, output };
  }
  const signal = child.signalCode;
  if (signal !== null) {
    const lasting = crashes.has(signal);
    const reason = lasting
      ? `it crashed with ${signal}`
      : `it was ended by ${signal}: short of memory, or not done in ${timeoutMilliseconds / 1000} s`;
    return { ok: false, reason, lasting };
  }
  const said = errors.trim().split("\n").at(-1) ?? "";
  return { ok: false, reason: said === "" ? `it ended with code ${child.exitCode}` : said, lasting: false };
}
