import { afterAll, describe, expect, test } from "bun:test";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { parseHostNames } from "../../src/http/index.ts";
import { readCredentials } from "../../src/http/shared/credentials.ts";
import { hostRefusal } from "../../src/http/shared/hosts.ts";
import { canMakeCertificates, makeCertificate } from "../support/certificate.ts";
import { ApiServer } from "../support/http.ts";

const server = new ApiServer({ hosts: ["Transcribe.Example.org", "bücher.example"] });
afterAll(() => server[Symbol.dispose]());
const client = server.client("first");

const ask = (path: string, lines: readonly string[], version = "1.1") =>
  server.raw(`${[`GET ${path} HTTP/${version}`, ...lines, "Connection: close"].join("\r\n")}\r\n\r\n`);

describe("a Host header", () => {
  const served = [
    ...["localhost", "localhost:8787", "LocalHost", "app.localhost", "127.0.0.1", "127.9.8.7:1", "[::1]", "[::1]:8787"],
    // An address can't be rebound to another server, so any address is accepted.
    ...["192.0.2.7", "192.0.2.7:8787", "[2001:db8::7]:443"],
    ...["transcribe.example.org", "TRANSCRIBE.example.org:443", "transcribe.example.org.", "xn--bcher-kva.example"],
  ];
  test.each(served)("%p is served on every path", async (host) => {
    for (const path of ["/healthz", "/metrics", "/docs", "/openapi.json"]) {
      expect(await ask(path, [`Host: ${host}`])).toStartWith("HTTP/1.1 200");
    }
    const authorization = `Authorization: Bearer ${client.key}`;
    expect(await ask("/api/public/v1/languages", [`Host: ${host}`, authorization])).toStartWith("HTTP/1.1 200");
  });

  const foreign = [
    ...[
      "rebound.example",
      "rebound.example:8787",
      "localhost.rebound.example",
      "notlocalhost",
      "127.0.0.1.rebound.example",
    ],
    ...[
      "www.transcribe.example.org",
      "transcribe.example.org.rebound.example",
      "0x7f.1",
      "2130706433",
      "localhost..",
      ".localhost",
    ],
    ...[
      "localhost, rebound.example",
      "localhost@rebound.example",
      "a b",
      "a/../..",
      "%6cocalhost",
      "[::1",
      "::1",
      "localhost:x",
      "*",
    ],
    ...["localhost:80:80", "[::1]rebound.example", "[localhost]", "rebound.example\tlocalhost"],
  ];
  test.each(foreign)("%p is refused on every path, with a key too", async (host) => {
    for (const path of ["/healthz", "/metrics", "/docs", "/console/", "/api/public/v1/languages", "/nothing"]) {
      const answer = await ask(path, [`Host: ${host}`, `Authorization: Bearer ${client.key}`]);
      expect(answer).toStartWith("HTTP/1.1 400");
      expect(answer).not.toContain("English");
      expect(answer).not.toContain("transcribe_");
    }
  });

  test("that names another server is answered with the setting that would allow it", async () => {
    const answer = await ask("/metrics", ["Host: rebound.example"]);
    expect(answer).toContain('"error":"bad_request"');
    expect(answer).toContain("server.hosts");
    expect(answer).not.toContain("rebound.example");
  });

  const pairs = [
    ["localhost", "localhost"],
    ["localhost", "rebound.example"],
    ["rebound.example", "localhost"],
    ["", "localhost"],
    ["localhost", ""],
  ];
  test.each(pairs)("that occurs twice is refused, as %p and %p", async (first, second) => {
    expect(await ask("/healthz", [`Host: ${first}`, `Host: ${second}`])).toStartWith("HTTP/1.1 400");
  });

  test("that is missing or empty is accepted, because HTTP/1.0 has none and browsers always send one", async () => {
    expect(await ask("/readyz", [], "1.0")).toStartWith("HTTP/1.1 200");
    expect(await ask("/readyz", ["Host:"], "1.0")).toStartWith("HTTP/1.1 200");
    expect(await ask("/readyz", ["Host:"])).toStartWith("HTTP/1.1 200");
  });

  test("is not taken from a proxy's X-Forwarded-Host", async () => {
    const lines = ["Host: rebound.example", "X-Forwarded-Host: localhost"];
    expect(await ask("/metrics", lines)).toStartWith("HTTP/1.1 400");
  });
});

test.skipIf(!canMakeCertificates("names of a certificate"))("a name of the server's own certificate is served", () => {
  using folder = temporaryDirectory();
  const { certificatePath, keyPath } = makeCertificate(folder.path, "own");
  const { leaf } = readCredentials(certificatePath, keyPath, Date.now());
  expect(hostRefusal("OWN.test:8787", new Set(), leaf)).toBeNull();
  expect(hostRefusal("rebound.example", new Set(), leaf)).toContain("server.hosts");
  expect(hostRefusal("own.test", new Set(), null)).toContain("server.hosts");
});

describe("the list of host names", () => {
  const wrong = [
    "https://a.example",
    "a.example:443",
    "a.example/x",
    "user@a.example",
    "a b",
    "",
    "*.example.org",
    "a..b",
    "a?b",
    "a#b",
  ];
  test.each(wrong)("does not accept %p", (entry) => {
    expect(() => parseHostNames([entry])).toThrow("is not a host name");
  });
});
