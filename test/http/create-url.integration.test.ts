import { afterAll, describe, expect, test } from "bun:test";
import { bodyOf, errorOf } from "../../harness/client.ts";
import { transcriptionContract } from "../../harness/contract.ts";
import { post } from "../support/forms.ts";
import { ApiServer } from "../support/http.ts";
import { refusalOf } from "../support/secrets.ts";

describe("POST /transcriptions with a link", () => {
  const server = new ApiServer({ recordingsPerAccount: 1000 });
  afterAll(() => server[Symbol.dispose]());
  const client = server.client("first");
  const host = "https://media.example.org";

  const taken: [string, string, string][] = [
    ["https", `${host}/a.mp3`, `${host}/a.mp3`],
    ["http", "http://media.example.org/a.mp3", "http://media.example.org/a.mp3"],
    ["a query", `${host}/get?id=7&x=%20`, `${host}/get?id=7&x=%20`],
    ["a fragment, which is not kept", `${host}/a.mp3#t=30`, `${host}/a.mp3`],
    ["a port", "https://media.example.org:8443/a.mp3", "https://media.example.org:8443/a.mp3"],
    ["other letters in scheme and host", "HTTPS://Media.Example.ORG/A.mp3", `${host}/A.mp3`],
    ["a name of other letters", "https://bücher.example/a.mp3", "https://xn--bcher-kva.example/a.mp3"],
    ["a public address", "http://93.184.216.34/a.mp3", "http://93.184.216.34/a.mp3"],
    [
      "2,048 characters",
      `${host}/${"a".repeat(2048 - host.length - 1)}`,
      `${host}/${"a".repeat(2048 - host.length - 1)}`,
    ],
    ["a name that only holds a playlist's", `${host}/m3u8/a.mp3?x=.pls`, `${host}/m3u8/a.mp3?x=.pls`],
  ];
  for (const [what, url, stored] of taken) {
    test(`${what}: 201, an empty record with the link as its source`, async () => {
      const created = await bodyOf(await post(client, { url, language: "DE" }), 201, transcriptionContract);
      expect(created).toMatchObject({
        status: "queued",
        title: null,
        language: "de",
        duration_seconds: null,
        source: { type: "url", name: null, url: stored },
        progress: { step: null, percent: null, indeterminate: false },
      });
      expect(await client.get(created.id)).toEqual(created);
      expect(server.queued).toContain(created.id);
      expect([server.filesIn("incoming"), server.filesIn("uploads")]).toEqual([[], []]);
    });
  }

  const refused: [string, string][] = [
    ["nothing", ""],
    ["no link", "a.mp3"],
    ["a scheme without a host", "https://"],
    ["another scheme", "ftp://media.example.org/a.mp3"],
    ["a file", "file:///etc/passwd"],
    ["data", "data:audio/mpeg;base64,AAAA"],
    ["a name and a password", "https://user:secret@media.example.org/a.mp3"],
    ["a name", "https://user@media.example.org/a.mp3"],
    ["2,049 characters", `${host}/${"a".repeat(2048 - host.length)}`],
    ["loopback", "http://127.0.0.1/a.mp3"],
    ["loopback by name", "http://localhost/a.mp3"],
    ["loopback as one number", "http://2130706433/a.mp3"],
    ["loopback in octal", "http://0177.0.0.1/a.mp3"],
    ["loopback of IPv6", "http://[::1]/a.mp3"],
    ["loopback mapped", "http://[::ffff:127.0.0.1]/a.mp3"],
    ["a private network", "http://192.168.1.1/a.mp3"],
    ["link-local, where clouds keep credentials", "http://169.254.169.254/latest/meta-data"],
    ["carrier-grade NAT", "http://100.64.0.1/a.mp3"],
    ["unique local", "http://[fd00::1]/a.mp3"],
    ["nowhere", "http://0.0.0.0/a.mp3"],
  ];
  for (const [what, url] of refused) {
    test(`${what}: 422 under url, and nothing is entered`, async () => {
      const before = server.queued.length;
      const response = await post(client, { url });
      const text = await response.clone().text();
      expect(text).not.toContain("secret");
      const { error, errors } = await errorOf(response, 422);
      expect([error, Object.keys(errors ?? {})]).toEqual(["validation_failed", ["url"]]);
      expect(server.queued).toHaveLength(before);
    });
  }

  const playlists = [
    "/a.m3u",
    "/a.m3u8",
    "/a.pls",
    "/a.xspf",
    "/a.asx",
    "/a.M3U8",
    "/a.m3u8?token=1",
    "/playlist?list=x",
  ];
  test.each(playlists)("answers %s with 422 playlist_not_acceptable, without fields", async (path) => {
    const { error, errors } = await errorOf(await post(client, { url: host + path }), 422);
    expect([error, errors]).toEqual(["playlist_not_acceptable", undefined]);
  });

  test("refuses every link with 422 under url if links are not fetched", async () => {
    using closed = new ApiServer({ fetchEnabled: false });
    const by = closed.client("first");
    for (const url of [`${host}/a.mp3`, `${host}/a.m3u8`]) {
      expect(Object.keys((await errorOf(await post(by, { url }), 422)).errors ?? {})).toEqual(["url"]);
    }
  });

  test("answers 503 with Retry-After while the server accepts no work, whatever is sent", async () => {
    server.trouble = "the server is stopping";
    const response = await post(client, {});
    server.trouble = null;
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await refusalOf(response)).toBe("503 service_unavailable");
  });
});
