import { afterAll, describe, expect, test } from "bun:test";
import { createSurfaces } from "../../src/http/app.ts";
import { contextOf } from "../../src/http/shared/request-context.ts";
import { ApiServer, clientAt } from "../support/http.ts";

describe("GET /metrics", () => {
  const server = new ApiServer();
  afterAll(() => server[Symbol.dispose]());
  const read = async () => (await fetch(`${server.origin}/metrics`)).text();

  test("answers this machine without a key in Prometheus's text format", async () => {
    const response = await fetch(`${server.origin}/metrics`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const text = await response.text();
    for (const line of text.split("\n").filter((each) => each !== "")) {
      expect(line).toMatch(/^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? -?[0-9.e+]+)$/);
    }
    expect(text).toContain('transcribe_recordings_open{status="queued",priority="0"} 0');
    expect(text).toContain("transcribe_engine_ready");
  });

  test("counts refusals by code and logs them with the address", async () => {
    const refusals = async () => {
      const counted = /^transcribe_http_refusals_total\{code="(\w+)"\} ([1-9]\d*)$/gm;
      return Object.fromEntries([...(await read()).matchAll(counted)].map(([, code, times]) => [code, Number(times)]));
    };
    const { key } = server.client("first", { scopes: ["transcriptions:read"] });
    const headers = { authorization: `Bearer ${key}` };
    const before = await refusals();
    const asked: [string, string, RequestInit][] = [
      ["missing_api_key", "/languages", {}],
      ["invalid_api_key", "/languages", { headers: { authorization: "Bearer x" } }],
      ["insufficient_scope", "/transcriptions", { headers, method: "POST" }],
      ["not_found", "/nothing", { headers }],
      ["method_not_allowed", "/languages", { headers, method: "DELETE" }],
    ];
    for (const [, path, init] of asked) await fetch(server.baseUrl + path, init);
    await server.raw("GET /healthz HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n");
    const after = await refusals();
    for (const code of [...asked.map(([name]) => name), "bad_request"]) {
      expect([code, (after[code] ?? 0) - (before[code] ?? 0)]).toEqual([code, 1]);
      const lines = server.log.filter((line) => line.event === "http.request" && line.error === code);
      expect(lines.length).toBeGreaterThan(0);
      expect(lines[0]).toMatchObject({ address: "127.0.0.1", requestId: expect.any(String) });
    }
  });

  test("omits metrics without a value", async () => {
    const text = await read();
    for (const name of ["transcribe_tls_certificate_end_timestamp_seconds", "transcribe_gpu_memory_free_bytes"]) {
      expect(text).toContain(`# TYPE ${name} gauge`);
      expect(text).not.toMatch(new RegExp(`^${name}`, "m"));
    }
  });

  test("counts requests by method and status, never by a value that a client made up", async () => {
    await fetch(`${server.baseUrl}/languages`);
    await server.raw("PROPFIND /api/public/v1/languages HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    const text = await read();
    expect(text).toMatch(/transcribe_http_requests_total\{method="GET",status="401"\} \d+/);
    expect(text).toContain('method="other"');
    expect(text).not.toContain("PROPFIND");
  });

  test.each([
    ["192.168.1.7", false, "", 403],
    ["127.0.0.1", false, "", 200],
    ["192.168.1.7", true, "", 200],
    ["192.168.1.7", false, "Bearer the-token-of-metrics", 200],
    ["192.168.1.7", false, "bearer the-token-of-metrics", 200],
    ["192.168.1.7", false, "Bearer the-token-of-metric", 403],
    ["192.168.1.7", false, "Bearer the-token-of-metrics1", 403],
    ["192.168.1.7", false, "the-token-of-metrics", 403],
    ["192.168.1.7", false, "Bearer null", 403],
  ])("answers %s with metrics.remote %p and %p: %d", async (address, remote, authorization, status) => {
    const metricsToken = () => "the-token-of-metrics";
    const surfaces = createSurfaces({ ...server.appOptions, metricsRemote: () => remote, metricsToken });
    const request = new Request("http://localhost/metrics", { headers: { authorization } });
    contextOf(request).client = clientAt(address);
    expect((await surfaces.answer(request, "/metrics")).status).toBe(status);
  });
});

test.each([
  ["127.0.0.1", true],
  ["127.255.3.4", true],
  ["::1", true],
  ["10.0.0.1", false],
  ["::ffff:10.0.0.1", false],
  ["1127.0.0.1", false],
  ["::", false],
  ["", false],
])("the address %p counts as this machine: %p", (address, expected) => {
  expect(clientAt(address).isLocal).toBe(expected);
});
