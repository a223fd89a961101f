import { spyOn } from "bun:test";
import { Readable } from "node:stream";
import type { CommandResult } from "../../harness/processes.ts";
import { environmentWith } from "../../harness/server.ts";
import { runCommand } from "../../src/cli/index.ts";

let latest: Promise<unknown> = Promise.resolve();

/**
 * Runs a command line in this process, without the CPU time that a new process takes to load the program. Command lines
 * run one after the other, because they share the environment and the standard streams.
 * @param environment settings and `TRANSCRIBE_API_KEY`
 * @throws the error that would end a process of its own with a stack
 */
export function runHere(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  stdin: "ignore" | Uint8Array = "ignore",
): Promise<CommandResult> {
  const result = latest.then(() => withEnvironment(environmentWith(environment), () => printedBy(args, stdin)));
  latest = result.catch(() => {});
  return result;
}

async function printedBy(args: readonly string[], stdin: "ignore" | Uint8Array): Promise<CommandResult> {
  const printed = { stdout: "", stderr: "" };
  const spies = (["stdout", "stderr"] as const).map((name) =>
    spyOn(process[name], "write").mockImplementation((text) => {
      printed[name] += typeof text === "string" ? text : new TextDecoder().decode(text);
      return true;
    }),
  );
  const { stdin: own } = process;
  Object.defineProperty(process, "stdin", { value: Readable.from(stdin === "ignore" ? [] : [Buffer.from(stdin)]) });
  try {
    return { exitCode: await runCommand(args), ...printed };
  } finally {
    Object.defineProperty(process, "stdin", { value: own });
    for (const spy of spies) spy.mockRestore();
  }
}

/** Runs `work` with another environment. */
async function withEnvironment<T>(
  environment: Readonly<Record<string, string | undefined>>,
  work: () => Promise<T>,
): Promise<T> {
  const before = { ...process.env };
  replaceEnvironment(environment);
  try {
    return await work();
  } finally {
    replaceEnvironment(before);
  }
}

function replaceEnvironment(environment: Readonly<Record<string, string | undefined>>): void {
  for (const name of Object.keys(process.env)) if (environment[name] === undefined) delete process.env[name];
  Object.assign(process.env, environment);
}
