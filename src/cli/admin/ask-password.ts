import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { CommandError } from "../command-error.ts";

/** What is read of standard input where that is no terminal: its first line, without an end of more than this. */
const mostCharacters = 4096;

/**
 * A new password: asked for twice on a terminal, which shows nothing of it; else the first line of standard input.
 * @throws {CommandError} where the two differ, or there is none
 */
export async function askPassword(): Promise<string> {
  if (!process.stdin.isTTY) {
    const [line = ""] = (await text(process.stdin)).slice(0, mostCharacters).split(/\r?\n/, 1);
    if (line === "") throw new CommandError("standard input has no password");
    return line;
  }
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  using terminal = disposable(createInterface({ input: process.stdin, output: silent, terminal: true }));
  const ask = async (question: string) => {
    process.stderr.write(question);
    const answer = await terminal.question("");
    process.stderr.write("\n");
    return answer;
  };
  const password = await ask("New password: ");
  if (password !== (await ask("Once more: "))) throw new CommandError("the two are not the same");
  return password;
}

function disposable(terminal: ReturnType<typeof createInterface>): ReturnType<typeof createInterface> & Disposable {
  return Object.assign(terminal, { [Symbol.dispose]: () => terminal.close() });
}
