import { expect, test } from "bun:test";
import { Elysia } from "elysia";
import pino from "pino";
import { ExportTooLargeError } from "../../src/exports/index.ts";
import { errorEnvelope } from "../../src/http/error-envelope.ts";
import { errorOf } from "../support/client.ts";

test("of a transcript that is too long for a PDF the client is told what it can have, and the operator why", async () => {
  const log: Record<string, unknown>[] = [];
  const logger = pino({ base: null }, { write: (line) => void log.push(JSON.parse(line)) });
  const app = new Elysia().use(errorEnvelope(logger)).get("/export", () => {
    throw new ExportTooLargeError("the export was stopped: it took too much memory");
  });
  const { error, message } = await errorOf(await app.handle(new Request("http://localhost/export")), 500);
  expect(error).toBe("internal_error");
  expect(message).toContain("too long");
  expect(message).not.toContain("memory");
  expect(log.map(({ event, detail }) => [event, detail])).toEqual([
    ["http.export_too_large", "the export was stopped: it took too much memory"],
  ]);
});
