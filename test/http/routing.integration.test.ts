import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { errorOf } from "../../harness/client.ts";
import { ApiServer } from "../support/http.ts";

const server = new ApiServer();
afterAll(() => server[Symbol.dispose]());
beforeEach(() => {
  server.trouble = null;
});
const client = server.client("first");
const completed = server.enterCompleted(client.accountId, 1);

describe("methods", () => {
  const paths: [string, string][] = [
    ["/transcriptions", "GET, HEAD, POST"],
    [`/transcriptions/${completed}`, "DELETE, GET, HEAD"],
    [`/transcriptions/${completed}/segments`, "GET, HEAD"],
    ["/languages", "GET, HEAD"],
  ];
  for (const [path, allow] of paths) {
    test(`${path.replace(completed, "ID")} takes ${allow} and answers every other with 405 and Allow`, async () => {
      for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]) {
        if (allow.split(", ").includes(method)) continue;
        const response = await client.fetch(path, { method });
        expect([method, response.status, response.headers.get("allow")]).toEqual([method, 405, allow]);
        if (method !== "HEAD") expect((await errorOf(response, 405)).error).toBe("method_not_allowed");
      }
    });

    test(`OPTIONS ${path.replace(completed, "ID")} is answered 405 before anybody is asked for a key, and no origin is let in`, async () => {
      const response = await fetch(server.baseUrl + path, {
        method: "OPTIONS",
        headers: { origin: "https://elsewhere.example", "access-control-request-method": "GET" },
      });
      expect(response.headers.get("allow")).toBe(allow);
      expect((await errorOf(response, 405)).error).toBe("method_not_allowed");
    });
  }

  test("OPTIONS of an unknown path is answered 405 or 404, never 2xx or 401", async () => {
    const response = await fetch(`${server.baseUrl}/no-such-path`, { method: "OPTIONS" });
    expect([404, 405]).toContain(response.status);
  });

  test("HEAD is answered like GET, without a body", async () => {
    for (const path of ["/languages", `/transcriptions/${completed}`, `/transcriptions/${completed}/segments`, "/x"]) {
      const get = await client.fetch(path);
      const head = await client.fetch(path, { method: "HEAD" });
      expect([path, head.status]).toEqual([path, get.status]);
      expect(head.headers.get("content-type")).toBe(get.headers.get("content-type"));
      expect(await head.text()).toBe("");
    }
    expect((await fetch(`${server.origin}/healthz`, { method: "HEAD" })).status).toBe(200);
  });
});

describe("paths", () => {
  const unknown = [
    "",
    "/",
    "/transcriptions/",
    "/languages/",
    `/transcriptions/${completed}/`,
    `/transcriptions/${completed}/segments/`,
    `/transcriptions/${completed}/nothing`,
    "//languages",
    "/Languages",
  ];
  for (const path of unknown) {
    test(`"${path.replace(completed, "ID")}" is 404`, async () => {
      expect((await errorOf(await client.fetch(path), 404)).error).toBe("not_found");
    });
  }

  test("an unknown path outside the base path has the error envelope, too", async () => {
    expect((await errorOf(await fetch(`${server.origin}/`), 404)).error).toBe("not_found");
    expect((await errorOf(await fetch(`${server.origin}/healthz/`), 404)).error).toBe("not_found");
    expect((await errorOf(await fetch(`${server.origin}/healthz`, { method: "POST" }), 405)).error).toBe(
      "method_not_allowed",
    );
  });
});

describe("health", () => {
  test("/healthz and /readyz need no key", async () => {
    expect((await fetch(`${server.origin}/healthz`)).status).toBe(200);
    expect((await fetch(`${server.origin}/readyz`)).status).toBe(200);
  });

  test("a server that is ready with a warning reports it and accepts work", async () => {
    expect(await (await fetch(`${server.origin}/readyz`)).json()).toEqual({ status: "ready" });
    server.warning = "memory limit 400 MiB, needed about 1.2 GiB";
    const response = await fetch(`${server.origin}/readyz`);
    expect([response.status, await response.json()]).toEqual([200, { status: "ready", warning: server.warning }]);
  });

  test("a server that is not ready reports why and when to retry, and is alive all the same", async () => {
    server.trouble = "the models are being loaded";
    const response = await fetch(`${server.origin}/readyz`);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    const { error, message } = await errorOf(response, 503);
    expect(error).toBe("service_unavailable");
    expect(message).toContain("the models are being loaded");
    expect((await fetch(`${server.origin}/healthz`)).status).toBe(200);
  });
});

describe("the headers of every answer", () => {
  const answers: [string, string, RequestInit][] = [
    ["a good one", "/languages", {}],
    ["404", "/nothing", {}],
    ["405", "/languages", { method: "DELETE" }],
    ["a pre-flight", "/transcriptions", { method: "OPTIONS", headers: { origin: "https://elsewhere.example" } }],
    ["401", "/languages", { headers: { authorization: "Bearer x" } }],
    ["400", "/transcriptions", { method: "POST", body: "x" }],
    ["422", `/transcriptions/${completed}/segments?limit=0`, {}],
    ["HEAD", "/languages", { method: "HEAD" }],
  ];
  for (const [what, path, init] of answers) {
    test(`${what}: an id of the request, nothing stored, nothing sniffed, no origin let in`, async () => {
      const { headers } = await client.fetch(path, init);
      expect(headers.get("x-request-id")).toMatch(/^[A-Za-z0-9._:-]{1,128}$/);
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect([...headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
    });
  }

  test("repeat a client's X-Request-Id if it is valid, otherwise contain a new one", async () => {
    const idFor = async (sent: string) => {
      const response = await client.fetch("/languages", { headers: { "x-request-id": sent } });
      return response.headers.get("x-request-id");
    };
    for (const good of ["a", "Job-7.part_2:retry", "x".repeat(128)]) expect(await idFor(good)).toBe(good);
    for (const bad of ["", "x".repeat(129), "two words", "semi;colon", "ümlaut", "a,b", "<script>"]) {
      expect(await idFor(bad)).not.toBe(bad);
      expect(await idFor(bad)).toMatch(/^[A-Za-z0-9._:-]{1,128}$/);
    }
  });

  test("never contain the same generated id twice", async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => client.fetch("/languages")));
    expect(new Set(ids.map(({ headers }) => headers.get("x-request-id"))).size).toBe(20);
  });
});
