import { describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { writeStatus } from "../../../src/replication/index.ts";
import { DataPaths } from "../../../src/storage/index.ts";
import { TestProvider } from "../../support/sign-in-provider.ts";
import { contextOf, runCheck } from "./support.ts";

const on = (port: number | undefined, host = "127.0.0.1") =>
  contextOf({}, { flags: { "server.host": host, "server.port": String(port) } });

describe("the check of the port", () => {
  test("reports a free port and leaves it free", async () => {
    const taken = Bun.serve({ port: 0, fetch: () => new Response() });
    const port = taken.port;
    await taken.stop(true);
    for (const _ of [1, 2]) {
      expect(await runCheck("server.port", on(port))).toMatchObject({
        status: "ok",
        summary: `127.0.0.1, port ${port}: free`,
      });
    }
  });

  test("knows that a server which follows another one answers there", async () => {
    await using taken = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
    using directory = temporaryDirectory();
    const paths = new DataPaths(directory.path);
    mkdirSync(paths.state);
    const now = "2026-11-21T12:00:00Z";
    const from = "tls://a.example.org:8788";
    const status = { role: "standby", pid: 7, version: "1.0.0", from, phase: "following", isComplete: true } as const;
    writeStatus(paths, { ...status, lastContactAt: null, behindBytes: 0, delaySeconds: 0 }, Date.parse(now));
    const flags = { "server.host": "127.0.0.1", "server.port": `${taken.port}`, "standby.follow": "true" };
    const found = await runCheck("server.port", contextOf({ now }, { flags, paths }));
    expect([found.status, found.summary]).toEqual([
      "ok",
      expect.stringContaining("used by this server, which follows"),
    ]);
  });

  for (const [whose, answer, says] of [
    ["another transcribe server", () => Response.json({ status: "alive" }), "another transcribe server"],
    ["another program", () => new Response("hello"), "another program"],
    ["a failing program", () => new Response("", { status: 500 }), "another program"],
  ] as const) {
    test(`reports that ${whose} uses it, and how to find that program`, async () => {
      await using taken = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: answer });
      const found = await runCheck("server.port", on(taken.port));
      expect([found.status, found.summary]).toEqual(["problem", expect.stringContaining(`is taken by ${says}`)]);
      expect(found.advice).toContain(`sport = :${taken.port}`);
    });
  }

  test("reports an address of another machine", async () => {
    const found = await runCheck("server.port", on(8787, "192.0.2.1"));
    expect([found.status, found.summary]).toEqual(["problem", "192.0.2.1 is not an address of this machine"]);
  });
});

describe("the check of the server", () => {
  test("reports why a server is not ready", async () => {
    await using fake = Bun.serve({ port: 0, fetch: () => new Response("Not ready: no model", { status: 503 }) });
    const server = {
      pid: 1,
      version: "0",
      origin: `http://127.0.0.1:${fake.port}`,
      modelSetting: "",
      certificate: null,
    };
    const found = await runCheck("server.running", contextOf({}, { server, data: "present" }));
    expect([found.status, found.detail]).toEqual(["problem", ["Not ready: no model"]]);
  });
});

test("the check of the sign-in provider asks for its configuration, and says what is wrong", async () => {
  await using provider = await TestProvider.start({ page: "http://127.0.0.1/console/", people: {} });
  const check = (flags: Record<string, string>) =>
    runCheck(
      "server.provider",
      contextOf({}, { flags: { "console.enabled": "true", "oidc.client_id": "transcribe", ...flags } }),
    );
  expect(await check({})).toMatchObject({ status: "skipped" });
  expect(await check({ "oidc.issuer": provider.issuer })).toMatchObject({ status: "ok" });
  const wrong: [Record<string, string>, RegExp, RegExp][] = [
    [{ "oidc.issuer": `${provider.issuer}/realms/none` }, /HTTP status 404/, /Something else answers/],
    [{ "oidc.issuer": provider.issuer.replace("127.0.0.1", "localhost") }, /COMPARISON/, /exactly as the provider/],
    [{ "oidc.issuer": "http://127.0.0.1:1" }, /ConnectionRefused|ECONNREFUSED/, /reach the provider/],
    [
      { "oidc.issuer": provider.issuer, "oidc.client_secret_file": "/nowhere/secret" },
      /\/nowhere\/secret can't be read/,
      /client_secret_file/,
    ],
  ];
  for (const [flags, detail, advice] of wrong) {
    const found = await check(flags);
    expect([found.status, found.detail?.join() ?? "", found.advice ?? ""]).toEqual([
      "problem",
      expect.stringMatching(detail),
      expect.stringMatching(advice),
    ]);
  }
});
