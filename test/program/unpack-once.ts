// Unpacks the parts of a program, prints their directory, and runs until its standard input closes.
import { UnpackError } from "../../src/program/own-program.ts";
import { requireExecutable } from "../../src/program/runtime-directory.ts";
import { unpackParts } from "../../src/program/unpack.ts";
import { withFile } from "./support.ts";

const [runtimeDirectory = "", program = "{}"] = process.argv.slice(2);
try {
  const directory = await withFile(JSON.parse(program), (opened) => unpackParts(runtimeDirectory, opened));
  requireExecutable(`${directory}/native/program`, runtimeDirectory);
  console.log(directory);
  for await (const _ of process.stdin);
} catch (error) {
  if (!(error instanceof UnpackError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
