import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { changeAccount, requireAccount } from "../../src/accounts/index.ts";
import { parseNetworks } from "../../src/addresses/index.ts";
import { clientOf } from "../../src/http/shared/client.ts";
import { ApiServer } from "../support/http.ts";

const proxies = parseNetworks(["10.0.0.0/8", "127.0.0.1", "::1", "fd00::/8"]);
const addressOf = (peer: string, headers: Record<string, string>) =>
  clientOf(peer, new Headers(headers), proxies).address;

describe("the client's address is", () => {
  const cases: [string, string, string | null, string][] = [
    ["the peer's if nothing was forwarded", "192.0.2.1", null, "192.0.2.1"],
    ["the peer's if the peer is not trusted, whatever it claims", "192.0.2.1", "198.51.100.9", "192.0.2.1"],
    ["the address from which the proxy received the request", "10.0.0.1", "198.51.100.9", "198.51.100.9"],
    [
      "never an address that the client has put left of it",
      "10.0.0.1",
      "127.0.0.1, 1.1.1.1, 198.51.100.9",
      "198.51.100.9",
    ],
    [
      "the first from the right that is no trusted proxy",
      "10.0.0.1",
      "1.1.1.1, 198.51.100.9, 10.0.0.2",
      "198.51.100.9",
    ],
    ["the leftmost if all are trusted proxies", "10.0.0.1", "10.9.9.9, 10.0.0.2", "10.9.9.9"],
    ["the proxy's if its header is empty", "10.0.0.1", "", "10.0.0.1"],
    ["the proxy's if it received the request from an unknown address", "10.0.0.1", "1.1.1.1, unknown", "10.0.0.1"],
    ["the last proxy's before an unreadable entry", "10.0.0.1", "<script>, 10.0.0.7", "10.0.0.7"],
    ["the proxy's if the header ends with a comma", "10.0.0.1", "1.1.1.1,", "10.0.0.1"],
    ["without its port", "10.0.0.1", "198.51.100.9:4711", "198.51.100.9"],
    ["IPv6", "fd00::1", "2001:db8::7", "2001:db8::7"],
    ["IPv6 in brackets", "::1", "[2001:db8::7]", "2001:db8::7"],
    ["IPv6 with a port", "::1", "[2001:db8::7]:4711", "2001:db8::7"],
    ["IPv6 without its zone", "::1", "fe80::7%eth0", "fe80::7"],
    ["plain IPv4 for an IPv4-mapped IPv6 address", "::ffff:10.0.0.1", "::ffff:198.51.100.9", "198.51.100.9"],
    ["plain IPv4 if the socket uses IPv6", "::ffff:192.0.2.1", null, "192.0.2.1"],
    ["the proxy's if the entry is a number that isIP does not accept", "10.0.0.1", "0x7f.1", "10.0.0.1"],
    ["empty without a socket", "", "198.51.100.9", ""],
  ];
  test.each(cases)("%s", (_, peer, header, expected) => {
    expect(addressOf(peer, header === null ? {} : { "x-forwarded-for": header })).toBe(expected);
  });

  test("read from several headers of the name, in their order", () => {
    const headers = new Headers([
      ["X-Forwarded-For", "1.1.1.1"],
      ["X-Forwarded-For", "198.51.100.9"],
      ["X-Forwarded-For", "10.0.0.2"],
    ]);
    expect(clientOf("10.0.0.1", headers, proxies).address).toBe("198.51.100.9");
  });

  test("not taken from Forwarded and X-Real-IP", () => {
    expect(addressOf("10.0.0.1", { forwarded: "for=1.1.1.1", "x-real-ip": "1.1.1.1" })).toBe("10.0.0.1");
  });
});

describe("the client's scheme", () => {
  test.each([
    ["10.0.0.1", "https", "https"],
    ["10.0.0.1", "HTTPS", "https"],
    ["10.0.0.1", "https, http", "http"],
    ["10.0.0.1", "javascript", null],
    ["192.0.2.1", "https", null],
  ])("for peer %s and X-Forwarded-Proto %p is %p", (peer, header, scheme) => {
    const headers = new Headers({ "x-forwarded-proto": header });
    expect(clientOf(peer, headers, proxies).scheme).toBe(scheme as "http" | "https" | null);
  });
});

describe("behind a proxy on this machine", () => {
  const server = new ApiServer({
    trustedProxies: ["127.0.0.1"],
    hosts: ["transcribe.example.org"],
    limits: { failed_authentications_per_minute: 3 },
  });
  beforeAll(() => {
    const now = Date.now();
    server.now = () => now;
  });
  afterAll(() => server[Symbol.dispose]());
  const failFrom = async (forwardedFor: string) =>
    (await fetch(`${server.baseUrl}/languages`, { headers: { "x-forwarded-for": forwardedFor } })).status;

  test("failed authentications are counted per client, and invented addresses do not reset the count", async () => {
    for (let count = 0; count < 3; count++) expect(await failFrom(`203.0.113.${count}, 198.51.100.1`)).toBe(401);
    expect(await failFrom("203.0.113.77, 198.51.100.1")).toBe(429);
    expect(await failFrom("198.51.100.1, 198.51.100.2")).toBe(401);
  });

  test.each(["x-forwarded-for", "x-real-ip", "forwarded", "via", "x-forwarded-proto", "x-forwarded-host"])(
    "a forwarded request can't read /metrics, as shown by the header %s",
    async (name) => {
      const response = await fetch(`${server.origin}/metrics`, { headers: { [name]: "127.0.0.1" } });
      expect(response.status).toBe(403);
      expect(await response.text()).not.toContain("transcribe_");
    },
  );

  test("a request of this machine itself can read /metrics", async () => {
    expect((await fetch(`${server.origin}/metrics`)).status).toBe(200);
  });

  test("links in errors have the client's scheme and host", async () => {
    const client = server.client("guest");
    changeAccount(server.store, server.account("guest"), server.operator(), { standing: "guest" });
    const response = await client.fetch("/languages", {
      headers: { host: "transcribe.example.org", "x-forwarded-proto": "https", "x-forwarded-for": "198.51.100.9" },
    });
    expect(await response.json()).toMatchObject({ docs: "https://transcribe.example.org/docs" });
  });
});

describe("without trusted proxies", () => {
  const server = new ApiServer();
  afterAll(() => server[Symbol.dispose]());

  test("links are complete for HTTP/1.0 without a Host, too", async () => {
    const { key, accountId } = server.client("old");
    changeAccount(server.store, requireAccount(server.store, accountId), server.operator(), { standing: "guest" });
    const answer = await server.raw(`GET /api/public/v1/languages HTTP/1.0\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    expect(answer).toContain('"docs":"http://localhost/docs"');
  });

  test("a client's headers do not change the links, and a forwarded request can't read /metrics", async () => {
    const client = server.client("guest");
    changeAccount(server.store, server.account("guest"), server.operator(), { standing: "guest" });
    const headers = { "x-forwarded-proto": "https", "x-forwarded-for": "127.0.0.1" };
    expect(await (await client.fetch("/languages", { headers })).json()).toMatchObject({
      docs: `${server.origin}/docs`,
    });
    expect((await fetch(`${server.origin}/metrics`, { headers })).status).toBe(403);
  });
});
