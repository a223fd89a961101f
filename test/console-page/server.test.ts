import { expect, test } from "bun:test";
import { refusalOf } from "../../src/console-page/server.ts";

test("a refusal is told in the server's words", () => {
  const body = JSON.stringify({
    error: { code: "held", message: "It is held.", field: null, retry_after_seconds: null },
  });
  expect(refusalOf(403, body)).toMatchObject({ status: 403, code: "held", message: "It is held." });
});

test.each([
  "",
  "<h1>Bad Gateway</h1>",
  "null",
  "[]",
  '"no"',
  '{"error":"not_found","message":"There is nothing."}',
  '{"error":{}}',
])("an answer that is not the console's own, as of a proxy, is told as such: %p", (body) => {
  expect(refusalOf(502, body)).toMatchObject({ code: "unknown", message: expect.stringContaining("(502)") });
});
