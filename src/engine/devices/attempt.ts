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

/**
 * Runs a command to its end, or to the timeout's, and tells how it ended. Never throws because of what it does, only the
 * signal's reason, once the command was killed for an abort.
 */
export async function attempt(
  command: readonly string[],
  timeoutMilliseconds: number,
  signal?: AbortSignal,
): Promise<Outcome> {
  signal?.throwIfAborted();
  const child = Bun.spawn([...command], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: timeoutMilliseconds,
    killSignal: "SIGKILL",
  });
  const kill = () => child.kill("SIGKILL");
  signal?.addEventListener("abort", kill, { once: true });
  const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  await child.exited;
  signal?.removeEventListener("abort", kill);
  signal?.throwIfAborted();
  if (child.exitCode === 0) {
    return { ok: true, output };
  }
  const death = child.signalCode;
  if (death !== null) {
    const lasting = crashes.has(death);
    const reason = lasting
      ? `it crashed with ${death}`
      : `it was ended by ${death}: short of memory, or not done in ${timeoutMilliseconds / 1000} s`;
    return { ok: false, reason, lasting };
  }
  const said = errors.trim().split("\n").at(-1) ?? "";
  return { ok: false, reason: said === "" ? `it ended with code ${child.exitCode}` : said, lasting: false };
}
