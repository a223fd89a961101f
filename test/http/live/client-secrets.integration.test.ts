import { afterAll, describe, expect, test } from "bun:test";
import { revokeKey } from "../../../src/keys/index.ts";
import { ApiServer } from "../../support/http.ts";
import { TestSocket } from "../../support/test-socket.ts";
import { upgrade } from "./upgrade.ts";

const minute = 60_000;
const server = new ApiServer();
server.now = () => Date.parse("2026-11-21T08:00:00Z");
afterAll(() => server[Symbol.dispose]());
const client = server.client("first");

const post = (path: string, body?: unknown, { key } = client) =>
  fetch(`${server.origin}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
const secretOf = async (body?: unknown, from = client): Promise<string> => {
  const answer = await post("/v1/realtime/client_secrets", body, from);
  expect(answer.status).toBe(200);
  return Object(await answer.json()).value;
};
const openAi = (secret: string) => upgrade(server, "/v1/realtime", { Authorization: `Bearer ${secret}` });
const own = (secret: string, query = "") =>
  upgrade(server, `/api/public/v1/live${query}`, { "Sec-WebSocket-Protocol": `transcribe, bearer.${secret}` });

describe("a client secret", () => {
  test("comes with the session that it opens, and is valid for ten minutes by default", async () => {
    const session = {
      type: "transcription",
      audio: {
        input: { format: { type: "audio/pcmu" }, transcription: { model: "gpt-4o-transcribe", language: "de" } },
      },
    };
    const answer = await post("/v1/realtime/client_secrets", { session });
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const expires_at = Date.parse("2026-11-21T08:10:00Z") / 1000;
    const { value, ...rest } = Object(await answer.json());
    expect(value).toMatch(/^ek_[0-9a-f]{64}$/);
    expect(rest).toMatchObject({
      expires_at,
      session: {
        id: expect.stringMatching(/^sess_/),
        object: "realtime.transcription_session",
        expires_at,
        ...session,
      },
    });
    using socket = await TestSocket.open(`ws://127.0.0.1:${server.port}/v1/realtime`, {
      protocols: ["realtime", `openai-insecure-api-key.${value}`],
    });
    expect(await socket.next("session.created")).toMatchObject({ session });
    expect(server.live.last.options).toMatchObject({ format: { encoding: "mulaw" }, language: "de" });
    expect(server.live.last.sender).toMatchObject({ account: { id: client.accountId }, workspaceId: null });
  });

  test("has an older form, with the settings of older clients", async () => {
    const body = {
      input_audio_format: "g711_alaw",
      client_secret: { expires_at: { anchor: "created_at", seconds: 60 } },
    };
    const answer = await post("/realtime/transcription_sessions", body);
    const { client_secret, ...session } = Object(await answer.json());
    expect(session).toMatchObject({ object: "realtime.transcription_session", input_audio_format: "g711_alaw" });
    expect(client_secret.expires_at).toBe(Date.parse("2026-11-21T08:01:00Z") / 1000);
    expect((await openAi(client_secret.value)).status).toBe(101);
    expect(server.live.last.options.format.encoding).toBe("alaw");
  });

  test("opens one session, of either API", async () => {
    for (const opens of [openAi, own]) {
      const secret = await secretOf();
      expect((await opens(secret)).status).toBe(101);
      for (const again of [openAi, own]) expect((await again(secret)).status).toBe(401);
    }
  });

  test("stays usable when its session is refused", async () => {
    const secret = await secretOf();
    server.live.refusal = { kind: "full", sessions: 1 };
    expect((await own(secret)).status).toBe(503);
    server.live.refusal = null;
    expect((await own(secret)).status).toBe(101);
  });

  test("resumes the session that it opened, and no other", async () => {
    const secrets = [await secretOf(), await secretOf()] as const;
    await own(secrets[0]);
    const { id, sender } = server.live.last;
    await own(secrets[1]);
    expect(sender.holder).not.toBe(client.keyId);
    server.advance(60 * minute);
    expect((await own(secrets[0], `?resume=${id}`)).status).toBe(101);
    expect((await own(secrets[1], `?resume=${id}`)).status).toBe(404);
    expect(
      (await upgrade(server, `/api/public/v1/live?resume=${id}`, { Authorization: `Bearer ${client.key}` })).status,
    ).toBe(404);
  });

  test("expires after the time that its maker chose", async () => {
    const secret = await secretOf({ expires_after: { seconds: 10 } });
    const other = await secretOf({ expires_after: { anchor: "created_at", seconds: 7200 } });
    server.advance(10_000);
    expect((await own(secret)).status).toBe(401);
    server.advance(7_189_999);
    expect((await own(other)).status).toBe(101);
  });

  test("ends with the key of its maker", async () => {
    const maker = server.client("first");
    const secret = await secretOf(undefined, maker);
    const used = await secretOf(undefined, maker);
    await own(used);
    const { sender } = server.live.last;
    sender.requireAccess();
    revokeKey(server.store, maker.keyId, server.operator());
    expect((await own(secret)).status).toBe(401);
    expect(() => sender.requireAccess()).toThrow();
  });

  test("has the workspace of its maker's key", async () => {
    const workspace = server.workspace("first", "inside");
    await own(await secretOf(undefined, server.client("first", { workspace })));
    expect(server.live.last.sender.workspaceId).toBe(workspace.id);
  });

  test("opens nothing else than live sessions", async () => {
    const secret = await secretOf();
    const headers = { authorization: `Bearer ${secret}` };
    for (const path of ["/api/public/v1/languages", "/v1/models", "/api/public/v1/live"]) {
      expect((await fetch(server.origin + path, { headers })).status).toBe(401);
    }
    expect((await post("/v1/realtime/client_secrets", {}, { ...client, key: secret } as typeof client)).status).toBe(
      401,
    );
    expect((await upgrade(server, "/api/public/v1/transcriptions", { Authorization: `Bearer ${secret}` })).status).toBe(
      401,
    );
    expect((await own(secret)).status).toBe(101);
  });

  test("is neither logged nor forgotten by a restart of its client", async () => {
    server.log.length = 0;
    const secret = await secretOf();
    await own(secret);
    await own(`${secret}0`);
    await openAi(secret);
    expect(server.log.length).toBe(4);
    expect(JSON.stringify(server.log)).not.toContain(secret.slice(0, 20));
  });
});

describe("a request for a client secret", () => {
  test.each([
    ["no JSON", "{", null],
    ["a list", "[]", null],
    ["a text", '"x"', null],
    ["too few seconds", { expires_after: { seconds: 9 } }, "expires_after.seconds"],
    ["too many seconds", { expires_after: { seconds: 7201 } }, "expires_after.seconds"],
    ["another anchor", { expires_after: { anchor: "used_at" } }, "expires_after.anchor"],
    ["a session for conversations", { session: { type: "realtime" } }, "session.type"],
    [
      "an unknown model",
      { session: { audio: { input: { transcription: { model: "nova-3" } } } } },
      "session.audio.input.transcription.model",
    ],
    [
      "a wrong format",
      { session: { audio: { input: { format: { type: "audio/mp3" } } } } },
      "session.audio.input.format.type",
    ],
  ])("with %s is refused, with the field's name", async (_, body, param) => {
    const answer = await post("/v1/realtime/client_secrets", body);
    expect([answer.status === 400 || answer.status === 404, await answer.json()]).toMatchObject([
      true,
      { error: { param } },
    ]);
  });

  test("that is too long is refused with 413", async () => {
    const answer = await post("/v1/realtime/client_secrets", { more: "a".repeat(70_000) });
    expect(answer.status).toBe(413);
  });

  test("needs the scopes to create and to read", async () => {
    for (const scope of ["transcriptions:write", "transcriptions:read"] as const) {
      const poor = server.client("first", { scopes: [scope] });
      expect((await post("/v1/realtime/client_secrets", {}, poor)).status).toBe(403);
    }
  });

  test("beyond the number that one key may have is refused until one expires", async () => {
    const eager = server.client("second");
    for (let count = 0; count < 1000; count++) await secretOf({ expires_after: { seconds: 60 } }, eager);
    const answer = await post("/v1/realtime/client_secrets", {}, eager);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "60"]);
    await secretOf();
    server.advance(minute);
    await secretOf(undefined, eager);
  });
});
