import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { errorOf } from "../../harness/client.ts";
import { ApiServer } from "../support/http.ts";
import { expectNoSecrets, refusalOf } from "../support/secrets.ts";

/** Host names of different lengths: Elysia's router searches for the path after a fixed number of characters. */
const hostNames = ["a", "ai", "gpu", "box1", "a.b.c", "a".repeat(63)];
const server = new ApiServer({ hosts: hostNames });
afterAll(() => server[Symbol.dispose]());
const client = server.client("first");
const own = server.enterCompleted(client.accountId, 1);

/** Checks that no request of these tests caused an internal error. */
afterEach(() => {
  expect(server.log.splice(0).filter(({ event }) => event === "http.unexpected_error")).toEqual([]);
});

describe("a path in an unusual spelling", () => {
  const paths = [
    "/api/public/v1/%6Canguages",
    "/api/public/%76%31/languages",
    "/api%2Fpublic%2Fv1%2Flanguages",
    "/api/public/v1%2flanguages",
    "//api/public/v1/languages",
    "/api//public/v1/languages",
    "/api/public/v1/./languages",
    "/api/public/v1/../v1/languages",
    "/x/../api/public/v1/languages",
    "/api/public/v1/languages/.",
    "/api/public/v1/languages/..",
    "/api/public/v1\\languages",
    "/API/public/v1/languages",
    "/api/public/v1/languages;x=1",
    "/api/public/v1/languages%00",
    "/api/public/v1/languages#x",
    `/api/public/v1/transcriptions/${own}%2Fsegments`,
    `/api/public/v1/transcriptions/%2e%2e/languages`,
    `/api/public/%76%31/transcriptions/${own}`,
    "/api/public/v1/transcriptions/%",
    "/api/public/v1/transcriptions/%zz",
    "/api/public/v1/transcriptions/%c0%af",
    "/api/public/v1/transcriptions/%E0%A4%A",
    `/api/public/v1/transcriptions/${"a".repeat(5000)}`,
    "/api/public/v1/transcriptions?limit=%",
    "/api/public/v1/transcriptions?%=%&&=&limit",
    "http://elsewhere.example/api/public/v1/languages",
  ];
  const request = (path: string, authorization: string) =>
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${authorization}Connection: close\r\n\r\n`;
  const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);

  test.each(paths)("such as %p opens nothing without a key, and is answered 200, 404 or 422 with one", async (path) => {
    const without = await server.raw(request(path, ""));
    expect([401, 404, 400]).toContain(statusOf(without));
    expectNoSecrets(without, "English", own);
    const answer = await server.raw(request(path, `Authorization: Bearer ${client.key}\r\n`));
    expect([200, 404, 422, 400]).toContain(statusOf(answer));
    expectNoSecrets(answer);
    expect(answer.toLowerCase()).toContain("x-request-id:");
  });
});

describe("a path with dot segments", () => {
  const up = (count: number, dots = "..", slash = "/") => `${dots}${slash}`.repeat(count);
  const paths = [
    `/api/public/v1/${up(3)}console/data/entrance`,
    `/api/public/v1/${up(3, "%2e%2e")}console/data/entrance`,
    `/api/public/v1/${up(3, ".%2E")}console/data/entrance`,
    `/api/public/v1/${up(3, "%2e.")}console/`,
    `/api/public/v1/${up(3, "..", "%2f")}console/`,
    `/api/public/v1/${up(3, "%2E%2e", "%2F")}console/`,
    `/api/public/v1/${up(3, "..", "%5c")}console/`,
    "/api\\..\\console\\data\\entrance",
    "/x/..",
    "/../",
    "/..",
    "/.",
    "/./healthz",
    "/healthz/.",
    "/healthz/../healthz",
    "/x//../../healthz",
    "/x//../healthz",
    `/${"x/".repeat(20)}${up(20)}healthz`,
    `/${"x/".repeat(20)}${up(20)}`,
    "http://localhost/x/../healthz",
    "/x/../healthz?y",
    "/x/../healthz#y",
    "/x/..#y",
  ];
  const heads = ["HTTP/1.1\r\nHost: localhost", "HTTP/1.1\r\nHost: 127.0.0.1:8787", "HTTP/1.0"];
  test.each(paths)("such as %p is refused before it is routed", async (path) => {
    for (const head of heads) {
      for (const method of ["GET", "HEAD", "POST", "OPTIONS"]) {
        const answer = await server.raw(`${method} ${path} ${head}\r\nConnection: close\r\n\r\n`);
        expect([method, head, answer.slice(0, 12)]).toEqual([method, head, "HTTP/1.1 400"]);
        if (method !== "HEAD") expect(answer).toContain('"error":"bad_request"');
      }
    }
  });

  const others: [string, string][] = [
    ["/healthz", "200"],
    ["/healthz?path=/../x", "200"],
    ["/healthz/...", "404"],
    ["/..x/y..", "404"],
    ["/x/%252e%252e/healthz", "404"],
    ["/console//", "404"],
    ["/a/b/c/d/e/f/g/h/i/j", "404"],
    ["//healthz", "404"],
    ["/", "404"],
  ];
  test.each(others)("is not assumed for %p, which is answered %s", async (path, status) => {
    for (const head of heads) {
      const answer = await server.raw(`GET ${path} ${head}\r\nConnection: close\r\n\r\n`);
      expect([head, answer.slice(0, 12)]).toEqual([head, `HTTP/1.1 ${status}`]);
    }
  });
});

describe("an unusual method", () => {
  const methods = ["TRACE", "PROPFIND", "PURGE", "QUERY", "LOCK", "SEARCH", "M-SEARCH", "CONNECT", "get", "FOO"];
  test.each(methods)("such as %s is answered 405 with Allow, or refused by the HTTP parser", async (method) => {
    for (const path of ["/languages", "/transcriptions", `/transcriptions/${own}`, `/transcriptions/${own}/segments`]) {
      const head = `Host: localhost\r\nAuthorization: Bearer ${client.key}\r\nConnection: close\r\n\r\n`;
      const answer = await server.raw(`${method} /api/public/v1${path} HTTP/1.1\r\n${head}`);
      if (answer === "" || /^HTTP\/1\.1 400/.test(answer)) {
        expect(answer).not.toContain("{");
        continue;
      }
      expect(answer).toStartWith("HTTP/1.1 405");
      expect(answer).toMatch(/allow: [A-Z, ]+\r\n/i);
      expect(answer).toContain('"error":"method_not_allowed"');
    }
  });
});

describe("a request with an unusual head", () => {
  const line = "GET /api/public/v1/languages HTTP/1.1";
  const authorization = `Authorization: Bearer ${client.key}`;
  const heads: [string, string[], string][] = [
    ["a Host that is none", ["Host: %%%", authorization], "400"],
    ["a Host with a space", ["Host: a b", authorization], "400"],
    ["a Host with a path", ["Host: a/../..", authorization], "4"],
    ["an empty Host", ["Host:", authorization], ""],
    ["two Hosts", ["Host: localhost", "Host: localhost", authorization], "400"],
    ["two Authorizations", ["Host: localhost", authorization, authorization], "401"],
    ["a Host that lies", ["Host: elsewhere.example:1", authorization], "400"],
    ["a long header", ["Host: localhost", authorization, `X-Filler: ${"x".repeat(8000)}`], "200"],
    [
      "many headers",
      ["Host: localhost", authorization, ...Array.from({ length: 90 }, (_, at) => `X-${at}: ${at}`)],
      "200",
    ],
  ];
  test.each(heads)("with %s gets an answer, and never 5xx", async (_, lines, status) => {
    const answer = await server.raw(`${[line, ...lines, "Connection: close"].join("\r\n")}\r\n\r\n`);
    expect(answer).toStartWith(`HTTP/1.1 ${status}`);
    expect(answer).not.toStartWith("HTTP/1.1 5");
    expectNoSecrets(answer);
    if (/^x-request-id:/im.test(answer) && status === "400") expect(answer).toContain('"error":"bad_request"');
  });
});

describe("a request with HTTP/1.0 without a Host, as load balancers send it,", () => {
  const ask = (target: string, ...lines: string[]) =>
    server.raw(`${[`GET ${target} HTTP/1.0`, ...lines].join("\r\n")}\r\n\r\n`);

  test("learns that the server is alive and whether it is ready", async () => {
    for (const path of ["/healthz", "/readyz"]) expect(await ask(path)).toStartWith("HTTP/1.1 200");
  });

  test("bypasses no check of the API, and succeeds with a key", async () => {
    expect(await ask("/api/public/v1/languages")).toContain("missing_api_key");
    expect(await ask("http://elsewhere.example/api/public/v1/languages")).toContain("missing_api_key");
    expect(await ask("//x/api/public/v1/languages")).toStartWith("HTTP/1.1 404");
    expect(await ask("/api/public/v1/languages", `Authorization: Bearer ${client.key}`)).toStartWith("HTTP/1.1 200");
  });
});

describe("an unexpected body", () => {
  const kinds: [string, string][] = [
    ["application/json", "{"],
    ["application/x-www-form-urlencoded", "%%%=%zz"],
    ["multipart/form-data", "x"],
    ["multipart/form-data; boundary=x", "--x\r\n"],
    ["text/plain; charset=nothing", "\u0000"],
    ["x/y", "x"],
    ["", "x"],
  ];
  const requests: [string, string, number][] = [
    ["POST", "/nothing", 404],
    ["PUT", "/transcriptions", 405],
    ["PATCH", `/transcriptions/${own}`, 405],
    ["POST", `/transcriptions/${own}/segments`, 405],
    ["POST", "/languages", 405],
    ["DELETE", "/transcriptions/42", 404],
    ["OPTIONS", "/transcriptions", 405],
    ["POST", "/../../../healthz", 405],
  ];
  for (const [method, path, status] of requests) {
    test(`${method} ${path.replace(own, "ID")} is ${status} whatever its body is`, async () => {
      for (const [type, body] of kinds) {
        const response = await client.fetch(path, { method, body, headers: { "content-type": type } });
        expect([type, await refusalOf(response)]).toEqual([type, expect.stringMatching(new RegExp(`^${status} `))]);
      }
    });
  }
});

describe("a Host such as", () => {
  const hosts = [...hostNames, "localhost", "[::1]", "a:1", "10.0.0.1:8787"];
  test.each(hosts)("%p leads to the same paths, and bypasses no check", async (host) => {
    const ask = (path: string, authorization = "") =>
      server.raw(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${authorization}Connection: close\r\n\r\n`);
    const base = "/api/public/v1";
    expect(await ask(`${base}/languages`, `Authorization: Bearer ${client.key}\r\n`)).toStartWith("HTTP/1.1 200");
    expect(await ask(`${base}/languages`)).toStartWith("HTTP/1.1 401");
    expect(await ask("/healthz")).toStartWith("HTTP/1.1 200");
    for (const before of ["/x", "/xx", "/xxx", "/xxxx", "/x/x", "/xxxxxxx", "/http:/"]) {
      for (const path of ["/languages", "/transcriptions", `/transcriptions/${own}`]) {
        expect([before, (await ask(before + base + path)).slice(0, 12)]).toEqual([before, "HTTP/1.1 404"]);
      }
    }
  });
});

describe("a value that is not an id", () => {
  const values = [
    "'",
    "' OR '1'='1",
    "%27%20OR%201=1--",
    "1;DROP TABLE recordings",
    "%0d%0aSet-Cookie:x=1",
    "null",
    "*",
  ];
  test.each(values)("such as %p is answered 404 in place of an id, and not repeated in the answer", async (value) => {
    for (const path of ["", "/segments", "/export?format=txt"]) {
      const response = await client.fetch(`/transcriptions/${value}${path}`);
      expect(response.headers.get("set-cookie")).toBeNull();
      expect(await refusalOf(response, "DROP", "OR ", "Set-Cookie")).toBe("404 not_found");
    }
    expect((await client.fetch(`/transcriptions/${value}`, { method: "DELETE" })).status).toBe(404);
  });
});

describe("the log", () => {
  test("contains the request's id in every line about that request", async () => {
    for (const path of ["/languages", "/nothing", `/transcriptions/${own}`, "/transcriptions?limit=0"]) {
      const id = `log-${Bun.randomUUIDv7()}`;
      await client.fetch(path, { headers: { "x-request-id": id } });
      expect(server.log.filter(({ requestId }) => requestId === id)).toHaveLength(1);
    }
  });

  test("describes an internal error with that id, which the answer does not", async () => {
    using broken = new ApiServer();
    const asking = broken.client("first");
    broken.store.$client.run("DROP TABLE segments");
    const completed = broken.enterProcessing(asking.accountId);
    broken.store.$client.run("UPDATE recordings SET status = 'completed'");
    const headers = { "x-request-id": "it-broke" };
    const response = await asking.fetch(`/transcriptions/${completed}/segments`, { headers });
    expect(response.headers.get("x-request-id")).toBe("it-broke");
    const text = await response.clone().text();
    expectNoSecrets(text, "segments", completed);
    expect((await errorOf(response, 500)).error).toBe("internal_error");
    const lines = broken.log.filter(({ requestId }) => requestId === "it-broke");
    expect(lines.map(({ event }) => event)).toEqual(["http.unexpected_error", "http.request"]);
    expect(JSON.stringify(lines[0])).toContain("no such table");
  });
});
