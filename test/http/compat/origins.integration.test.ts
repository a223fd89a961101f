import { afterAll, describe, expect, test } from "bun:test";
import { parseOrigins } from "../../../src/http/index.ts";
import { ApiServer } from "../../support/http.ts";

const page = "https://notes.example.org";

function corsHeaders({ headers }: Response): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith("access-control-")));
}

describe("with an origin in server.origins", () => {
  const server = new ApiServer({ origins: [page, "app://obsidian.md"] });
  afterAll(() => server[Symbol.dispose]());
  const client = server.client("pages");
  const preflight = (path: string, origin: string) =>
    fetch(server.origin + path, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
      },
    });

  test.each([page, "app://obsidian.md"])("a page of %s may call OpenAI's API", async (origin) => {
    const answer = await preflight("/v1/audio/transcriptions", origin);
    expect(answer.status).toBe(204);
    expect(corsHeaders(answer)).toEqual({
      "access-control-allow-origin": origin,
      "access-control-allow-methods": "POST",
      "access-control-allow-headers": "authorization,content-type",
      "access-control-max-age": "600",
    });
    expect(answer.headers.get("vary")).toContain("Origin");
  });

  test("that page reads answers and errors", async () => {
    const asked = (key: string) =>
      fetch(`${server.origin}/v1/models`, { headers: { origin: page, authorization: `Bearer ${key}` } });
    for (const [key, status] of [
      [client.key, 200],
      ["wrong", 401],
    ] as const) {
      const answer = await asked(key);
      expect(answer.status).toBe(status);
      expect(corsHeaders(answer)).toMatchObject({ "access-control-allow-origin": page });
      expect(corsHeaders(answer)["access-control-expose-headers"]).toContain("X-Request-Id");
      expect(corsHeaders(answer)["access-control-allow-credentials"]).toBeUndefined();
    }
  });

  test.each([
    ["/v1/audio/transcriptions", "https://other.example.org"],
    ["/v1/audio/transcriptions", "https://notes.example.org.evil.example"],
    ["/v1/audio/transcriptions", "http://notes.example.org"],
    ["/v1/audio/transcriptions", "null"],
    ["/api/public/v1/transcriptions", page],
    ["/asr", page],
    ["/healthz", page],
    ["/metrics", page],
    ["/console", page],
  ])("at %s, a page of %s gets no CORS header", async (path, origin) => {
    const answers = [
      await preflight(path, origin),
      await fetch(server.origin + path, { headers: { origin, authorization: `Bearer ${client.key}` } }),
    ];
    for (const answer of answers) expect(corsHeaders(answer)).toEqual({});
  });
});

test.each([
  "*",
  "https://*.example.org",
  "null",
  "notes.example.org",
  "https://notes.example.org/",
  "https://a.example/path",
  "https://",
  "",
])("%p is no origin", (entry) => {
  expect(() => parseOrigins([entry])).toThrow("is not an origin");
});
