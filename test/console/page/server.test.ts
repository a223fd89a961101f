import { expect, test } from "bun:test";
import { requestErrorOf, urlOf } from "../../../src/console/page/server.ts";

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

test("the address of a route has encoded parameters, and of the query what is given, also an empty text", () => {
  const query = { find: "a&b", replacement: "", whole_words: true, after: null };
  expect(urlOf("replacements", { id: "../x", query }).split("/data/")[1]).toBe(
    "recordings/..%2Fx/replacements?find=a%26b&replacement=&whole_words=true",
  );
  expect(urlOf("overviewEvents", {})).toMatch(/\/data\/events$/);
});
