import { open, writeFile } from "node:fs/promises";
import { Value } from "@sinclair/typebox/value";
import { dieWithParent } from "../program/index.ts";
import { type ExportSegment, exportHeadSchema, exportSegmentSchema } from "./document.ts";

/** Loaded when they are needed: fonts and their engine take time and memory. */
const writers = {
  pdf: async () => (await import("./pdf/index.ts")).writePdf,
  docx: async () => (await import("./docx.ts")).writeDocx,
} as const;

/**
 * The child process's whole work: `FORMAT INPUT OUTPUT`, the input as child-process.ts writes it. Ends with 1 and a message
 * on standard error when something fails.
 */
export async function runExport(args: readonly string[]): Promise<void> {
  // A server that is started after a crash removes what the crash left behind; this must not write a file after that.
  dieWithParent();
  const [format, input, output] = args;
  if ((format !== "pdf" && format !== "docx") || input === undefined || output === undefined) {
    throw new Error("usage: FORMAT INPUT OUTPUT");
  }
  const file = await open(input);
  try {
    const lines = file.readLines()[Symbol.asyncIterator]();
    const head = Value.Parse(exportHeadSchema, JSON.parse((await lines.next()).value ?? "null"));
    const write = await writers[format]();
    const bytes = await write({ ...head, segments: segmentsOf(lines) });
    await writeFile(output, bytes, { flag: "wx", mode: 0o600 });
  } finally {
    await file.close();
  }
}

async function* segmentsOf(lines: AsyncIterator<string>): AsyncGenerator<ExportSegment> {
  for (let line = await lines.next(); !line.done; line = await lines.next()) {
    yield Value.Parse(exportSegmentSchema, JSON.parse(line.value));
  }
}
