import { expect, test } from "bun:test";
import { requestErrorOf } from "../../../src/console/page/server.ts";

test("an error response keeps the server's code and message", () => {
  const body = JSON.stringify({
    error: { code: "held", message: "It is held.", field: null, retry_after_seconds: null },
  });
  expect(requestErrorOf(403, body)).toMatchObject({ status: 403, code: "held", message: "It is held." });
});

test.each([
  "",
  "<h1>Bad Gateway</h1>",
  "null",
  "[]",
  '"no"',
  '{"error":"not_found","message":"There is nothing."}',
  '{"error":{}}',
])("a response that is not the console's, such as a proxy's, is reported with its status: %p", (body) => {
  expect(requestErrorOf(502, body)).toMatchObject({ code: "unknown", message: expect.stringContaining("(502)") });
});
