import { join } from "node:path";

/** Runs a family's native loader on unchecked files in one process, which a single crash would end. */
export async function loadNatively(
  family: "whisper" | "parakeet",
  files: readonly (() => string)[],
): Promise<string[]> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "native-loader.ts"), family], {
    ...{ stdin: "pipe", stdout: "pipe", stderr: "pipe" },
  });
  const answers: string[] = [];
  const errors = new Response(child.stderr).text();
  const lines = child.stdout.pipeThrough(new TextDecoderStream());
  const waiting = files.values();
  const next = async () => {
    const { value, done } = waiting.next();
    if (done === true) child.stdin.end();
    else {
      child.stdin.write(`${value()}\n`);
      await child.stdin.flush();
    }
  };
  await next();
  for await (const line of lines) {
    answers.push(...line.trim().split("\n"));
    await next();
  }
  const exitCode = await child.exited;
  if (exitCode !== 0)
    throw new Error(`the loader crashed at file ${answers.length}: ${child.signalCode}\n${await errors}`);
  return answers;
}
