import { expect, test } from "bun:test";
import { ApiServer } from "../support/http.ts";

test("changed limits take effect with the next request, in the headers and the API's description", async () => {
  using server = new ApiServer({ limits: { requests_per_minute: 50, creates_per_hour: 7_001 } });
  const client = server.client("acme");
  const quota = async () => (await client.fetch("/transcriptions")).headers.get("RateLimit-Policy");
  const description = async () => (await fetch(`${server.origin}/openapi.json`)).text();
  expect(await quota()).toStartWith('"requests";q=50;');
  expect(await description()).toContain("7,001");
  server.limits = { ...server.limits, requests_per_minute: 60, creates_per_hour: 7_002 };
  expect(await quota()).toStartWith('"requests";q=60;');
  expect(await description()).toContain("7,002");
  expect(await description()).not.toContain("7,001");
});
