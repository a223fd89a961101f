import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { available, ffmpegPath, samplePath } from "../../harness/checkout.ts";
import { changeAccount } from "../../src/accounts/index.ts";
import type { AccountLimits } from "../../src/usage/index.ts";
import { post, SlowUpload, someUrl } from "../support/forms.ts";
import { ApiServer, type KeyClient } from "../support/http.ts";
import { refusalOf } from "../support/secrets.ts";

setDefaultTimeout(60_000);

const second = 1000;
const hour = 3600 * second;
const day = 24 * hour;
const jfk = samplePath("jfk.mp3");
const ready = available("the allowance of creates beside uploads", ffmpegPath, jfk);

describe("the creates of an account", () => {
  let server: ApiServer;
  let client: KeyClient;
  beforeEach(() => {
    server = new ApiServer({ recordingsPerAccount: 1000, limits: { creates_per_hour: 4, creates_per_day: 10 } });
    server.now = () => Date.parse("2026-11-21T08:00:00.250Z");
    client = server.client("first");
  });
  afterEach(() => server[Symbol.dispose]());

  const create = (by = client) => post(by, { url: someUrl });
  const createTimes = async (count: number) => {
    for (let done = 0; done < count; done++) expect((await create()).status).toBe(201);
  };
  const refused = async (retryAfter: number) => {
    const response = await create();
    expect(await refusalOf(response)).toBe("429 rate_limited");
    expect(response.headers.get("retry-after")).toBe(String(retryAfter));
  };
  const setOwn = (limits: AccountLimits) =>
    changeAccount(server.store, server.account("first"), server.operator(), { limits });

  test("are allowed up to the hourly limit, then refused with 429 until the oldest create leaves the window", async () => {
    await createTimes(1);
    server.advance(600 * second);
    await createTimes(3);
    await refused(3000);
    server.advance(2999 * second);
    await refused(1);
    server.advance(second);
    await createTimes(1);
    await refused(600);
  });

  test("are allowed up to the daily limit, then refused with 429, across midnight and a restart", async () => {
    for (const count of [4, 4, 2]) {
      await createTimes(count);
      server.advance(hour);
    }
    await refused(21 * 3600);
    server.advance(20 * hour);
    await server.restart();
    await refused(3600);
    server.advance(hour - second);
    await refused(1);
    server.advance(second);
    await createTimes(4);
  });

  test("get the longer wait as Retry-After if both limits are used up", async () => {
    setOwn({ creates_per_hour: 2, creates_per_day: 2 });
    await createTimes(2);
    await refused(24 * 3600);
    server.advance(day - second);
    await refused(1);
    server.advance(second);
    await createTimes(2);
  });

  test("follow changed limits of their account from the next request on, and other accounts keep theirs", async () => {
    await createTimes(4);
    await refused(3600);
    setOwn({ creates_per_hour: 6 });
    await createTimes(2);
    await refused(3600);
    setOwn({ creates_per_hour: 100, creates_per_day: 7 });
    await createTimes(1);
    await refused(24 * 3600);
    setOwn({ creates_per_hour: 0 });
    expect((await create()).status).toBe(429);
    const second = server.client("second");
    for (let done = 0; done < 4; done++) expect((await create(second)).status).toBe(201);
    expect((await create(second)).status).toBe(429);
  });

  test("share one quota between all keys of the account", async () => {
    await createTimes(2);
    const pinned = server.client("first", { workspace: server.workspace("first", "sales") });
    expect((await create(pinned)).status).toBe(201);
    expect((await create(server.client("first"))).status).toBe(201);
    await refused(3600);
    expect((await create(pinned)).status).toBe(429);
  });

  test("use up no quota if refused, and give none back if their recording is deleted", async () => {
    for (let count = 0; count < 10; count++) {
      expect((await post(client, {})).status).toBe(422);
      expect((await post(client, { url: someUrl, language: "xx" })).status).toBe(422);
      expect((await client.fetch("/transcriptions", { method: "POST", body: "x" })).status).toBe(400);
    }
    await createTimes(4);
    for (const id of server.idsOf(client.accountId)) {
      server.recordings.fail(id, { reason: "no_speech" });
      expect((await client.fetch(`/transcriptions/${id}`, { method: "DELETE" })).status).toBe(204);
    }
    await refused(3600);
    for (let count = 0; count < 3; count++) await refused(3600);
    server.advance(hour);
    await createTimes(4);
  });

  test("report their remaining quota in RateLimit, which other requests do not", async () => {
    const policy = '"requests";q=100000;w=60, "creates-hour";q=4;w=3600, "creates-day";q=10;w=86400';
    const expected: [number, string][] = [
      [201, '"creates-hour";r=3;t=3600, "creates-day";r=9;t=86400'],
      [201, '"creates-hour";r=2;t=3600, "creates-day";r=8;t=86400'],
      [201, '"creates-hour";r=1;t=3600, "creates-day";r=7;t=86400'],
      [201, '"creates-hour";r=0;t=3600, "creates-day";r=6;t=86400'],
      [429, '"creates-hour";r=0;t=3600, "creates-day";r=6;t=86400'],
    ];
    for (const [status, left] of expected) {
      const response = await create();
      expect([response.status, response.headers.get("ratelimit-policy")]).toEqual([status, policy]);
      expect(response.headers.get("ratelimit")).toEndWith(`, ${left}`);
    }
    const { headers } = await client.fetch("/transcriptions");
    expect(headers.get("ratelimit-policy")).toBe('"requests";q=100000;w=60');
  });

  test.if(ready)("do not exceed the limit together if their uploads began before it was reached", async () => {
    const file = await Bun.file(jfk).bytes();
    await createTimes(2);
    const uploads = [];
    for (let count = 0; count < 4; count++) uploads.push(await SlowUpload.begin(server, client, file, `key-${count}`));
    const answers = await Promise.all(uploads.map((upload) => upload.finish()));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 429, 429]);
    for (const answer of answers.filter(({ status }) => status === 429)) {
      expect(answer.headers.get("retry-after")).toBe("3600");
      expect(await refusalOf(answer)).toBe("429 rate_limited");
    }
    expect(server.filesIn("incoming")).toEqual([]);
    expect(server.filesIn("uploads")).toHaveLength(2);
    server.advance(hour);
    const late = answers.findIndex(({ status }) => status === 429);
    const again = await post(client, { file: new Blob([file]) }, `key-${late}`);
    expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([201, null]);
  });
});
