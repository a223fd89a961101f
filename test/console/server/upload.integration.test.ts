import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { available, ffmpegPath, samplePath } from "../../../harness/checkout.ts";
import { bodyOf } from "../../../harness/client.ts";
import { changeAccount } from "../../../src/accounts/index.ts";
import { recordingSchema, uploadOptionsSchema } from "../../../src/console/contract/index.ts";
import { signOutEverywhere } from "../../../src/console/index.ts";
import { type Browser, ConsoleServer } from "../../support/console.ts";
import { SlowUpload } from "../../support/forms.ts";

setDefaultTimeout(60_000);

const jfk = samplePath("jfk.mp3");
const ready = available("tests of uploads in the console", ffmpegPath, jfk);

function send(browser: Browser, query: string, parts: Readonly<Record<string, string | Blob>>): Promise<Response> {
  const body = new FormData();
  for (const [name, value] of Object.entries(parts)) {
    if (typeof value === "string") body.append(name, value);
    else body.append(name, value, "Team meeting.final.mp3");
  }
  return browser.data(`/recordings?${query}`, { method: "POST", body });
}

const link = { url: "https://media.example.org/talk.mp3" };

describe("an upload in the console", () => {
  test.if(ready)("is accepted like one of the API, for the chosen account and workspace", async () => {
    using server = new ConsoleServer();
    const { api } = server;
    const workspace = api.workspace("first", "sales");
    const operator = await server.operator();
    const query = `account=${workspace.accountId}&workspace=${workspace.id}`;
    const hints = { prompt: "Leverrier\nHelstone", min_speakers: "2", max_speakers: "3" };
    const answer = await send(operator, query, { language: "DE", ...hints, file: Bun.file(jfk) });
    const recording = await bodyOf(answer, 201, recordingSchema);
    expect(recording).toMatchObject({
      ...{ status: "queued", language: "de", source: { name: "Team meeting.final" }, size_bytes: Bun.file(jfk).size },
      ...{ account: { name: "first" }, workspace: { name: "sales" } },
    });
    expect(api.recordings.get(recording.id)).toMatchObject({
      ...{ prompt: "Leverrier, Helstone", minSpeakers: 2, maxSpeakers: 3 },
    });
    expect(api.queued).toEqual([recording.id]);
    expect(api.filesIn("uploads")).toEqual([recording.id]);
    const ofWorkspace = await api.client("first", { workspace }).get(recording.id);
    expect(ofWorkspace.source.name).toBe("Team meeting.final");
  });

  test.if(ready)("of a file that is no recording is refused with a plain message, and leaves nothing", async () => {
    using server = new ConsoleServer();
    const { id } = server.api.account("first");
    const operator = await server.operator();
    const answer = await send(operator, `account=${id}`, { file: new Blob(["no sound at all"]) });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ error: { code: "validation_failed", field: "file" } });
    expect([...server.api.filesIn("incoming"), ...server.api.filesIn("uploads")]).toEqual([]);
  });

  test("counts for its account's limits, which apply to it as well", async () => {
    using server = new ConsoleServer({ recordingsPerAccount: 1, limits: { creates_per_hour: 2 } });
    const { id } = server.api.account("first");
    const operator = await server.operator();
    expect((await send(operator, `account=${id}`, link)).status).toBe(201);
    const second = await send(operator, `account=${id}`, link);
    expect(second.status).toBe(409);
    expect(await second.json()).toMatchObject({
      error: {
        code: "concurrency_limit",
        message:
          "1 recording of this account is queued, processing or being uploaded; send this one when one of them has finished.",
      },
    });
    server.api.limits = { ...server.api.limits, recordings_per_account: 9 };
    expect((await send(operator, `account=${id}`, link)).status).toBe(201);
    const third = await send(operator, `account=${id}`, link);
    expect(third.status).toBe(429);
    expect(Number(third.headers.get("retry-after"))).toBeGreaterThan(3500);
    expect(await third.json()).toMatchObject({ error: { code: "rate_limited", field: null } });
  });

  test("needs an account that may create recordings, and a workspace of that account", async () => {
    using server = new ConsoleServer();
    const { api } = server;
    const first = api.account("first");
    const foreign = api.workspace("second", "sales");
    const restricted = api.account("third");
    changeAccount(api.store, restricted, api.operator(), { standing: "restricted" });
    const operator = await server.operator();
    const cases: [string, number, string][] = [
      ["", 422, "validation_failed"],
      ["account=nobody", 422, "validation_failed"],
      [`account=${first.id}&workspace=${foreign.id}`, 422, "validation_failed"],
      [`account=${restricted.id}`, 403, "account_restricted"],
    ];
    for (const [query, status, code] of cases) {
      expect(await operator.refusal(send(operator, query, link), status)).toBe(code);
    }
    expect(api.queued).toEqual([]);
  });

  test.if(ready).each([
    ["the operator is signed out", 401, "not_signed_in"],
    ["its account is restricted", 403, "account_restricted"],
    ["its account is deleted", 422, "validation_failed"],
  ])("enters nothing when %s during the upload", async (what, status, code) => {
    using server = new ConsoleServer();
    const { api } = server;
    const account = api.account("first");
    const operator = await server.operator();
    const client = {
      fetch: (_: string, { method = "POST", body, headers }: RequestInit = {}) =>
        operator.data(`/recordings?account=${account.id}`, {
          ...{ method, body: body ?? null, headers: Object.fromEntries(new Headers(headers)) },
        }),
    };
    const upload = await SlowUpload.begin(api, client, await Bun.file(jfk).bytes());
    if (status === 401) signOutEverywhere(api.store, api.operator());
    else if (status === 403) changeAccount(api.store, account, api.operator(), { standing: "restricted" });
    else await api.removeAccount(account);
    expect([what, await operator.refusal(upload.finish(), status)]).toEqual([what, code]);
    expect([...api.filesIn("incoming"), ...api.filesIn("uploads"), ...api.queued]).toEqual([]);
  });

  test("has the API's minimum pace: an upload that is too slow is refused, and its connection is closed", async () => {
    using server = new ConsoleServer({ pace: { graceSeconds: 1, bytesPerSecond: 1 << 20, silenceSeconds: 1 } });
    const { id } = server.api.account("first");
    const operator = await server.operator();
    const lines = [
      `POST /console/data/recordings?account=${id} HTTP/1.1`,
      `Host: ${new URL(server.origin).host}`,
      `Cookie: ${operator.cookie}`,
      `Origin: ${server.origin}`,
      "Sec-Fetch-Site: same-origin",
      "X-Transcribe-Console: 1",
      "Content-Type: multipart/form-data; boundary=x",
      "Content-Length: 5000000",
    ];
    const answer = await server.api.raw(`${lines.join("\r\n")}\r\n\r\n--x\r\n`, 2);
    expect(answer).toStartWith("HTTP/1.1 400 ");
    expect(answer.toLowerCase()).toContain("connection: close");
  });

  test("has options: the accounts that may create recordings, the languages, and the maximum size", async () => {
    using server = new ConsoleServer({ uploadBytes: 1234, fetchEnabled: true });
    const { api } = server;
    const sales = api.workspace("first", "sales");
    const guest = api.account("guest");
    changeAccount(api.store, guest, api.operator(), { standing: "guest" });
    const over = api.account("over");
    changeAccount(api.store, over, api.operator(), { subscribedUntil: api.now() - 1 });
    expect(await (await server.operator()).read("/upload-options", uploadOptionsSchema)).toEqual({
      accounts: [{ id: sales.accountId, name: "first", workspaces: [{ id: sales.id, name: "sales" }] }],
      languages: [
        { code: "de", name: "German" },
        { code: "en", name: "English" },
        { code: "jv", name: "Javanese" },
      ],
      translates: true,
      max_bytes: 1234,
      links: true,
    });
  });
});
