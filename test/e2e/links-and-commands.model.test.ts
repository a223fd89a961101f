import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { available, samplePath } from "../../harness/checkout.ts";
import { bodyOf, spokenText, type TestClient } from "../../harness/client.ts";
import { transcriptionContract } from "../../harness/contract.ts";
import { startTimeout, TestServer } from "../../harness/server.ts";

const jfk = samplePath("jfk.mp3");
const sample = samplePath("sample.wav");
const ready = available("e2e tests of links and operator commands", jfk, sample);

describe.if(ready)("links and operator commands", () => {
  const server = new TestServer({ TRANSCRIBE_FETCH_ALLOW: "127.0.0.1/32" });
  let client: TestClient;
  let mediaServer: ReturnType<typeof Bun.serve>;

  beforeAll(async () => {
    mediaServer = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request) => {
        const { pathname } = new URL(request.url);
        if (pathname === "/jfk.mp3") return new Response(Bun.file(jfk));
        if (pathname === "/to-the-metadata-service") return Response.redirect("http://169.254.169.254/latest/");
        return new Response("not here", { status: 404 });
      },
    });
    await server.start();
    client = server.client("links");
  }, startTimeout);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await mediaServer.stop(true);
  });

  const sendLink = (path: string) => {
    const body = new FormData();
    body.set("url", `http://127.0.0.1:${mediaServer.port}${path}`);
    return client.fetch("/transcriptions", { method: "POST", body });
  };
  const shown = async (id: string) => JSON.parse((await server.cli("recordings", "show", id, "--json")).stdout);

  test(
    "a link is fetched and transcribed, and its recording names the link and no file",
    server.showingLog(async () => {
      const created = await bodyOf(await sendLink("/jfk.mp3#t=3"), 201, transcriptionContract);
      expect(created.source).toEqual({ type: "url", name: null, url: `http://127.0.0.1:${mediaServer.port}/jfk.mp3` });
      const ended = await client.waitUntilEnded(created.id);
      expect(ended.status).toBe("completed");
      expect(spokenText(await client.segments(created.id))).toContain("ask not what your country can do for you");
    }),
    120_000,
  );

  test.each([
    ["/nothing", "fetch_http_status"],
    ["/to-the-metadata-service", "fetch_blocked_address"],
  ])(
    "a link to %s fails as internal, shows its cause to the operator only, and leaves no file behind",
    async (path, cause) => {
      const { id } = await bodyOf(await sendLink(path), 201, transcriptionContract);
      const ended = await client.waitUntilEnded(id);
      expect(ended).toMatchObject({ status: "failed", failure_reason: "internal" });
      expect(JSON.stringify(ended)).not.toContain(cause);
      expect((await shown(id)).failure_cause).toBe(cause);
      expect(readdirSync(join(server.dataDirectory, "uploads"))).not.toContain(id);
      await server.untilCleanedUp();
    },
    60_000,
  );

  test(
    "a recording that is cancelled while it is processed fails as internal and leaves no work file behind",
    server.showingLog(async () => {
      const { id } = await client.create(sample);
      await server.until(async () => (await client.get(id)).status === "processing");
      expect((await server.cli("recordings", "cancel", id)).exitCode).toBe(0);
      expect(await client.get(id)).toMatchObject({ status: "failed", failure_reason: "internal" });
      await server.until(() =>
        server.log.some((line) => line.event === "recording.cancelled" && line.recordingId === id),
      );
      expect((await shown(id)).failure_cause).toBe("cancelled");
      await server.untilCleanedUp();
    }),
    120_000,
  );

  test(
    "deleting an account deletes its recordings, including those in progress",
    server.showingLog(async () => {
      const other = server.client("leaving");
      const { id } = await other.create(sample);
      await server.until(async () => (await other.get(id)).status === "processing");
      const { exitCode } = await server.cli("accounts", "delete", "leaving", "--yes");
      expect(exitCode).toBe(0);
      expect((await other.fetch(`/transcriptions/${id}`)).status).toBe(401);
      await server.until(() => !readdirSync(join(server.dataDirectory, "work")).includes(id));
      expect(readdirSync(join(server.dataDirectory, "uploads"))).not.toContain(id);
    }),
    120_000,
  );
});
