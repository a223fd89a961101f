import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { linesOf } from "../../../support/run-script.ts";
import { canTranscribe } from "../../../support/whisper.ts";

// Seconds on a quiet machine, more on a busy one.
setDefaultTimeout(60_000);

describe.skipIf(!canTranscribe("whisper next to ONNX Runtime", "formats/jfk.flac"))("whisper", () => {
  test("and ONNX Runtime work in one process, which exits cleanly", async () => {
    const lines = await linesOf(join(import.meta.dir, "with-onnx.ts"));
    expect(lines[0]).toContain("your country");
    expect(lines[1]).toBe("a voice of length 1.00");
    expect(lines[2]).toBe(lines[0] ?? "");
  });
});
