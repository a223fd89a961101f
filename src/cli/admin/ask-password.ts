import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { CommandError } from "../command-error.ts";

/** Maximum length of the input from which the password's line is taken if standard input is not a terminal. */
const mostCharacters = 4096;

/**
 * Reads a new password. On a terminal, asks twice without echo; otherwise reads the first line of standard input.
 * @throws {CommandError} when the two entries differ, or standard input has no password
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
