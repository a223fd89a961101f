// Unpacks the parts of a list, prints their directory, and runs until its standard input closes.
import { UnpackError } from "../../src/program/index.ts";
import { requireExecutable } from "../../src/program/runtime-directory.ts";
import { unpackParts } from "../../src/program/unpack.ts";

const [runtimeDirectory = "", list = "[]"] = process.argv.slice(2);
try {
  const directory = await unpackParts(runtimeDirectory, JSON.parse(list));
  requireExecutable(`${directory}/native/program`, runtimeDirectory);
  console.log(directory);
  for await (const _ of process.stdin);
} catch (error) {
  if (!(error instanceof UnpackError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
