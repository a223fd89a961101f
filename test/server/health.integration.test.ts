import { afterAll, expect, test } from "bun:test";
import { startStandbyHealth, startWorkerHealth } from "../../src/server/health.ts";
import { createLogger } from "../../src/telemetry/index.ts";

let reason: string | null = null;
const health = startWorkerHealth("127.0.0.1:0", () => reason);
afterAll(() => health[Symbol.dispose]());
const ask = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${health.port}${path}`, init);

test.each([
  [null, "/readyz", 200, { status: "ready" }],
  ["it is stopping", "/readyz", 503, { status: "not ready", reason: "it is stopping" }],
  ["it is stopping", "/healthz", 200, { status: "alive" }],
  [null, "/metrics", 404, { status: "unknown path" }],
  [null, "/", 404, { status: "unknown path" }],
])("a worker whose trouble is %p answers %s with %d", async (trouble, path, status, answer) => {
  reason = trouble;
  const response = await ask(path);
  expect([response.status, await response.json()]).toEqual([status, answer]);
});

test("a worker refuses requests that would change something, and large ones", async () => {
  expect((await ask("/readyz", { method: "POST" })).status).toBe(405);
  expect((await ask("/readyz", { method: "PUT", body: "x".repeat(10_000) })).status).toBeOneOf([405, 413]);
});

test.each(["127.0.0.1:99999", "no.such.host.invalid:8788"])("a worker cannot listen on %s, and says so", (address) => {
  expect(() => startWorkerHealth(address, () => null)).toThrow(`can't listen on fleet.health = ${address}`);
});

test("a standby is alive and not ready, and sends clients away for a moment", async () => {
  const address = { host: "127.0.0.1", port: 0, tls_certificate: "", tls_key: "" };
  using standby = startStandbyHealth(address, () => "this machine follows another one", createLogger("silent"));
  const ask = (path: string) =>
    fetch(`http://127.0.0.1:${standby.port}${path}`, { method: path === "/x" ? "POST" : "GET" });
  expect((await ask("/healthz")).status).toBe(200);
  for (const path of ["/readyz", "/x", "/api/public/v1/transcriptions"]) {
    const response = await ask(path);
    expect([response.status, response.headers.get("Retry-After"), await response.json()]).toEqual([
      ...[503, "5", { status: "not ready", reason: "this machine follows another one" }],
    ]);
  }
  // Prometheus scrapes both machines, and a standby is not down.
  const metrics = await ask("/metrics");
  expect([metrics.status, metrics.headers.get("Content-Type")]).toEqual([
    200,
    expect.stringContaining("version=0.0.4"),
  ]);
});
