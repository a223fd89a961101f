import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { beforeStop } from "../shared/processes.ts";

/**
 * Runs a program that prints each result as a line of JSON, and kills it when its time is over. Results until then count.
 * @returns null when it completed; otherwise why results may be missing
 */
export async function readJsonLines<T extends TSchema>(
  command: readonly string[],
  schema: T,
  {
    seconds,
    environment = {},
    onLine,
  }: {
    readonly seconds: number;
    readonly environment?: Readonly<Record<string, string>>;
    readonly onLine: (line: Static<T>) => void;
  },
): Promise<string | null> {
  const child = Bun.spawn([...command], {
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  using _stop = beforeStop(async () => {
    child.kill("SIGKILL");
    await child.exited;
  });
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    child.kill("SIGKILL");
  }, 1000 * seconds);
  const errors = child.stderr.text();
  try {
    let rest = "";
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.startsWith("{")) onLine(Value.Parse(schema, JSON.parse(line)));
    }
    await child.exited;
  } finally {
    clearTimeout(timer);
    child.kill("SIGKILL");
  }
  if (isOver) return `it was ended after ${Math.round(seconds)} s`;
  if (child.exitCode === 0) return null;
  const last = (await errors).trim().split("\n").at(-1) ?? "";
  return `it ended with ${child.signalCode ?? `status ${child.exitCode}`}${last === "" ? "" : `: ${last.slice(0, 300)}`}`;
}
