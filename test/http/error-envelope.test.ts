import { expect, test } from "bun:test";
import pino from "pino";
import { errorOf } from "../../harness/client.ts";
import { ExportTooLargeError } from "../../src/exports/index.ts";
import { toApiError } from "../../src/http/shared/error-envelope.ts";

test("the answer for a transcript that is too long for a PDF suggests other formats, and the log has the cause", async () => {
  const log: Record<string, unknown>[] = [];
  const logger = pino({ base: null }, { write: (line) => void log.push(JSON.parse(line)) });
  const thrown = new ExportTooLargeError("the export was stopped: it took too much memory");
  const answer = toApiError(thrown, "UNKNOWN", logger, new Request("http://localhost/export")).asResponse();
  const { error, message } = await errorOf(answer, 500);
  expect(error).toBe("internal_error");
  expect(message).toContain("too long");
  expect(message).not.toContain("memory");
  expect(log.map(({ event, detail }) => [event, detail])).toEqual([
    ["http.export_too_large", "the export was stopped: it took too much memory"],
  ]);
});
