import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { changeAccount } from "../../../src/accounts/index.ts";
import { errorCodes, errorSchema } from "../../../src/http/shared/errors.ts";
import { IntakeError } from "../../../src/intake/index.ts";
import { revokeKey, scopes } from "../../../src/keys/index.ts";
import type { LiveRefusal } from "../../../src/live/index.ts";
import { ApiServer } from "../../support/http.ts";
import { TestSocket } from "../../support/test-socket.ts";
import { upgrade } from "./upgrade.ts";

const server = new ApiServer();
afterAll(() => server[Symbol.dispose]());
afterEach(() => {
  server.live.refusal = null;
  server.live.onOpen = () => {};
});
const client = server.client("first");
const path = "/api/public/v1/live";

const ask = (query = "", headers: Record<string, string> = {}) =>
  upgrade(server, path + query, { Authorization: `Bearer ${client.key}`, ...headers });

describe("a request for a live session", () => {
  test("becomes a WebSocket with the headers of every answer", async () => {
    const { status, headers } = await ask("", { "X-Request-Id": "call-7" });
    expect(status).toBe(101);
    expect(Object.fromEntries(headers)).toMatchObject({
      "x-request-id": "call-7",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
      "ratelimit-policy": '"requests";q=100000;w=60, "creates-hour";q=100000;w=3600, "creates-day";q=100000;w=86400',
    });
    expect(headers.has("sec-websocket-protocol")).toBe(false);
  });

  test("without an upgrade is answered 426, which names the protocol", async () => {
    for (const headers of [{ Upgrade: "h2c" }, { "Sec-WebSocket-Version": "8" }, { "Sec-WebSocket-Key": null }]) {
      const { status, headers: answered, body } = await ask("", Object(headers));
      expect(status).toBe(426);
      expect(answered.get("upgrade")).toBe("websocket");
      expect(answered.get("sec-websocket-version")).toBe("13");
      expect(body).toMatchObject({ error: "bad_request" });
    }
    const plain = await client.fetch("/live");
    expect([plain.status, plain.headers.get("upgrade")]).toEqual([426, "websocket"]);
    expect((await client.fetch("/live", { method: "HEAD" })).status).toBe(426);
    expect((await client.fetch("/live", { method: "POST" })).headers.get("allow")).toBe("GET, HEAD");
    expect(server.live.opened.length).toBe(1);
  });

  test.each([
    ["all places are taken", 1, 503, "service_unavailable"],
    ["sessions are off", 0, 404, "not_found"],
  ])("without an upgrade is answered as one with it when %s: browsers hide that", async (_, places, status, code) => {
    const before = server.live.places;
    await ask();
    server.live.places = places;
    const plain = await client.fetch("/live");
    server.live.places = before;
    expect([plain.status, await plain.json()]).toEqual([status, expect.objectContaining({ error: code })]);
    expect((await client.fetch("/live")).status).toBe(426);
  });

  const refusals: [LiveRefusal, number, string, string | null][] = [
    [{ kind: "off" }, 404, "not_found", null],
    [{ kind: "full", sessions: 4 }, 503, "service_unavailable", "30"],
    [{ kind: "account_full", sessions: 2 }, 409, "concurrency_limit", null],
    [{ kind: "audio_used_up" }, 429, "rate_limited", "3600"],
    [{ kind: "unknown_session" }, 404, "not_found", null],
    [{ kind: "in_use" }, 409, "concurrency_limit", null],
    [{ kind: "bad_option", option: "language", reason: "The model does not know it." }, 422, "validation_failed", null],
  ];
  test.each(refusals)("that is refused as %j is answered %d %s", async (refusal, status, code, retryAfter) => {
    const before = server.now;
    server.now = () => Date.parse("2026-11-21T23:00:00Z");
    server.live.refusal = refusal;
    const answer = await ask();
    server.now = before;
    expect([answer.status, answer.body]).toEqual([status, expect.objectContaining({ error: code })]);
    expect(answer.headers.get("retry-after")).toBe(retryAfter);
    expect(Value.Check(errorSchema(errorCodes), answer.body)).toBe(true);
    if (code === "validation_failed") {
      expect(answer.body).toMatchObject({ errors: { language: ["The model does not know it."] } });
    }
  });

  test("that a limit of creates refuses is answered as a create", async () => {
    server.live.onOpen = () => {
      throw new IntakeError({ kind: "no_place", places: 5 });
    };
    const { status, body } = await ask();
    expect([status, body]).toEqual([409, expect.objectContaining({ error: "concurrency_limit" })]);
  });

  test.each([
    ["sample_rate=7999", "sample_rate"],
    ["sample_rate=48001", "sample_rate"],
    ["sample_rate=16k", "sample_rate"],
    ["encoding=mp3", "encoding"],
    ["keep=yes", "keep"],
    ["turns=never", "turns"],
    ["threshold=1.5", "threshold"],
    ["threshold=1e-1", "threshold"],
    ["threshold=-0", "threshold"],
    ["padding_ms=5001", "padding_ms"],
    ["silence_ms=99", "silence_ms"],
    ["resume=42", "resume"],
    ["from_segment=-1", "from_segment"],
    ["keep=true&keep=false", "keep"],
    [`prompt=${"a".repeat(2001)}`, "prompt"],
  ])("with %s is answered 422 under its name", async (query, name) => {
    const opened = server.live.opened.length;
    const { status, body } = await ask(`?${query}`);
    expect([status, body]).toEqual([422, expect.objectContaining({ error: "validation_failed" })]);
    expect(Object.keys(Object(body).errors)).toEqual([name]);
    expect(server.live.opened.length).toBe(opened);
  });

  test("needs the scopes to create and to read", async () => {
    for (const scope of ["transcriptions:write", "transcriptions:read"] as const) {
      const { key } = server.client("first", { scopes: scopes.filter((each) => each !== scope) });
      const { status, body } = await ask("", { Authorization: `Bearer ${key}` });
      expect([status, body]).toMatchObject([403, { error: "insufficient_scope", required: scope }]);
    }
  });

  test("of an account that may not use the API is refused with the reason", async () => {
    const { key } = server.client("guest");
    changeAccount(server.store, server.account("guest"), server.operator(), { standing: "guest" });
    const { status, body } = await ask("", { Authorization: `Bearer ${key}` });
    expect([status, body]).toMatchObject([403, { error: "guest_account_not_supported" }]);
  });

  test("that its client leaves before the answer opens no session that stays", async () => {
    const left = Promise.withResolvers<void>();
    server.live.onOpen = (session) => {
      void session.called("leave").then(left.resolve);
    };
    // A HEAD request can't become a WebSocket, although its headers ask for one.
    const { status } = await upgrade(server, path, { Authorization: `Bearer ${client.key}` }, "HEAD");
    expect(status).toBe(400);
    await left.promise;
  });
});

describe("a key as a subprotocol", () => {
  const address = `ws://127.0.0.1:${server.port}${path}`;

  test("opens a session, and the server chooses the protocol that has no key", async () => {
    using socket = await TestSocket.open(address, { protocols: ["transcribe", `bearer.${client.key}`] });
    expect(socket.protocol).toBe("transcribe");
    expect(server.live.last.sender.holder).toBe(client.keyId);
    const { status, headers } = await upgrade(server, path, { "Sec-WebSocket-Protocol": `bearer.${client.key}` });
    expect([status, headers.has("sec-websocket-protocol")]).toEqual([101, false]);
  });

  test.each([
    ["no key", "transcribe", "missing_api_key"],
    ["an empty one", "transcribe, bearer.", "missing_api_key"],
    ["an unknown one", "transcribe, bearer.trs_0", "invalid_api_key"],
    ["an unknown client secret", `transcribe, bearer.ek_${"0".repeat(64)}`, "invalid_api_key"],
    ["a key under another name", `transcribe, key.${client.key}`, "missing_api_key"],
    ["a key twice in one", `transcribe, bearer.bearer.${client.key}`, "invalid_api_key"],
  ])("that is %s is refused", async (_, protocols, code) => {
    const { status, body } = await upgrade(server, path, { "Sec-WebSocket-Protocol": protocols });
    expect([status, body]).toMatchObject([401, { error: code }]);
  });

  test("that was revoked is refused", async () => {
    const leaked = server.client("first");
    revokeKey(server.store, leaked.keyId, server.operator());
    const { status } = await upgrade(server, path, { "Sec-WebSocket-Protocol": `transcribe, bearer.${leaked.key}` });
    expect(status).toBe(401);
  });

  test("is none on other paths, and none without an upgrade", async () => {
    const headers = { "Sec-WebSocket-Protocol": `bearer.${client.key}` };
    expect((await upgrade(server, "/api/public/v1/languages", headers)).status).toBe(401);
    expect((await fetch(`${server.baseUrl}/live`, { headers })).status).toBe(401);
    expect((await upgrade(server, `${path}/`, headers)).status).toBe(401);
  });

  test("is never logged", async () => {
    server.log.length = 0;
    await upgrade(server, path, { "Sec-WebSocket-Protocol": `transcribe, bearer.${client.key}` });
    await upgrade(server, path, { "Sec-WebSocket-Protocol": `transcribe, bearer.${client.key}x` });
    await upgrade(server, `${path}?resume=${client.key}`, { Authorization: `Bearer ${client.key}` });
    expect(server.log.length).toBe(3);
    expect(JSON.stringify(server.log)).not.toContain(client.key);
  });
});

test("failed authentications by subprotocols count against the limit of their address", async () => {
  using limited = new ApiServer({ limits: { failed_authentications_per_minute: 3 } });
  const statuses: number[] = [];
  for (let count = 0; count < 5; count++) {
    const protocols = { "Sec-WebSocket-Protocol": `transcribe, bearer.wrong${count}` };
    statuses.push((await upgrade(limited, path, protocols)).status);
  }
  expect(statuses).toEqual([401, 401, 401, 429, 429]);
});

test("requests for live sessions count against the request rate of their key", async () => {
  using limited = new ApiServer({ limits: { requests_per_minute: 2 } });
  const headers = { Authorization: `Bearer ${limited.client("first").key}` };
  const statuses: number[] = [];
  for (let count = 0; count < 3; count++) statuses.push((await upgrade(limited, path, headers)).status);
  expect(statuses).toEqual([101, 101, 429]);
});
