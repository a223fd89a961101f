import { open, writeFile } from "node:fs/promises";
import { Value } from "@sinclair/typebox/value";
import { dieWithParent } from "../program/index.ts";
import { type ExportSegment, exportHeadSchema, exportSegmentSchema } from "./document.ts";

/** Loaded on demand, because the fonts and their engine take time and memory. */
const writers = {
  pdf: async () => (await import("./pdf/index.ts")).writePdf,
  docx: async () => (await import("./docx.ts")).writeDocx,
} as const;

/**
 * Runs one export in the child process. The arguments are `FORMAT INPUT OUTPUT`; child-process.ts writes the input.
 * @throws any error when the export fails; the process then exits with 1 and a message on standard error
 */
export async function runExport(args: readonly string[]): Promise<void> {
  // A server that starts after a crash removes the files that the crash left behind. This process must not write a file
  // after that.
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
