import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { CommandError } from "./command-error.ts";

/** Maximum length of the input from which the password's line is taken if standard input is not a terminal. */
const MAX_INPUT_CHARACTERS = 4096;

/**
 * Reads a new password. On a terminal, asks twice without echo; otherwise reads the first line of standard input.
 * @throws {CommandError} when the two entries differ, or standard input has no password
 */
export async function readPassword(): Promise<string> {
  if (!process.stdin.isTTY) {
    const [line = ""] = (await text(process.stdin)).slice(0, MAX_INPUT_CHARACTERS).split(/\r?\n/, 1);
    if (line === "") throw new CommandError("standard input has no password");
    return line;
  }
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  const ask = async (question: string) => {
    process.stderr.write(question);
    const answer = await terminal.question("");
    process.stderr.write("\n");
    return answer;
  };
  try {
    const password = await ask("New password: ");
    if (password !== (await ask("Repeat the password: "))) throw new CommandError("the two passwords differ");
    return password;
  } finally {
    terminal.close();
  }
}
