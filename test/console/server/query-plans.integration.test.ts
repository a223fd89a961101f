import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { removePassword, setPassword, signOutEverywhere } from "../../../src/console/index.ts";
import { openDatabase, type Store } from "../../../src/database/index.ts";
import { indexMissing } from "../../../src/search/index.ts";
import { ConsoleServer } from "../../support/console.ts";
import { RecordedStatements, readsBeforeWrites, slowSteps } from "../../support/recorded-statements.ts";
import { signedIn } from "./people.ts";

setDefaultTimeout(60_000);

/** Tables with one or more rows for every recording. */
const growing = ["recordings", "segments", "creates", "audio_usage", "searchable_recordings", "speaker_names"];

/** Requests every route of the console. */
async function useAll(server: ConsoleServer): Promise<void> {
  const { api } = server;
  const { store } = api;
  const workspace = api.workspace("first", "sales");
  const account = workspace.accountId;
  const operator = await server.operator();
  await setPassword(store, "correct horse battery", api.operator());
  await server.stranger().enter({ password: "correct horse battery" });
  const id = await server.enterSaid("first", ["Hello world.", "Hello, Ann."]);
  const many = await server.enterSaid(
    "first",
    Array.from({ length: 300 }, () => "hello world"),
  );
  const gets = ["/overview", "/upload-options", "/accounts", "/sign-in-methods", "/session", `/recordings/${id}`];
  const filters = ["", `account=${account}`, `workspace=${workspace.id}`, "status=completed,failed", "limit=1"];
  const searches = filters.flatMap((filter) => [
    filter,
    ...["hello", "hell", '"hello world"'].map((q) => `${filter}&q=${q}`),
  ]);
  const ofOne = ["segments", "outline", "find?q=hello", "playback", "exports/txt", "live-comparison"];
  const paths = [
    ...gets,
    ...searches.map((query) => `/recordings?${query}`),
    ...ofOne.map((path) => `/recordings/${id}/${path}`),
  ];
  for (const path of paths) expect([path, (await operator.data(path)).status]).toEqual([path, 200]);
  for (const accounts of [["first", "second"], "all"] as const) {
    const reader = await signedIn(server, `${accounts.length}@example.org`, "reader", accounts);
    for (const path of paths.filter((each) => !/^\/(?:overview|accounts)$/.test(each))) {
      expect([path, (await reader.data(path)).status]).toEqual([path, 200]);
    }
  }
  const form = new FormData();
  form.set("url", "https://media.example.org/a.mp3");
  await operator.data(`/recordings?account=${account}`, { method: "POST", body: form });
  await operator.send("PUT", `/recordings/${id}/speakers`, { names: { 0: "Ann", 1: "" } });
  const key = await (await operator.send("POST", "/keys", { account, name: "x", workspace: workspace.id })).json();
  await operator.send("DELETE", `/keys/${(key as { key: { id: string } }).key.id}`);
  expect((await operator.send("DELETE", `/recordings/${id}`)).status).toBe(204);
  await indexMissing(store, new AbortController().signal);
  expect(api.recordings.get(many)).not.toBeNull();
  await api.removeAccount(api.account("first"));
  await operator.send("DELETE", "/session");
  removePassword(store, api.operator());
  signOutEverywhere(store, api.operator());
}

describe("however many recordings there are", () => {
  let store: Store;
  let recorded: RecordedStatements;
  beforeAll(async () => {
    store = openDatabase(":memory:");
    using server = new ConsoleServer();
    recorded = new RecordedStatements();
    await useAll(server);
    recorded[Symbol.dispose]();
  });
  afterAll(() => store.$client.close());
  const statements = () =>
    [...recorded.statements].filter((sql) => /^\s*(select|insert|update|delete|with)\b/i.test(sql));

  test("no statement of the console scans or sorts all of them", () => {
    expect(statements().length).toBeGreaterThan(60);
    const slow = statements()
      .map((sql) => ({ sql, steps: slowSteps(store.$client, sql, growing) }))
      .filter(({ steps }) => steps.length > 0);
    expect(slow).toEqual([]);
  });

  test("the full-text index is queried by words or by rows, never scanned", () => {
    const plans = statements()
      .filter((sql) => /searchable_texts/.test(sql) && !/^\s*insert/i.test(sql))
      .map((sql) => {
        const plan = store.$client.prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all();
        return plan.map(({ detail }) => detail).join("; ");
      });
    expect(plans.length).toBeGreaterThan(3);
    // FTS5 names its method behind the colon: M for a match, = and >< for rows.
    for (const plan of plans) expect(plan).toMatch(/^SCAN searchable_texts VIRTUAL TABLE INDEX \d+:\S/);
  });

  test("no transaction of the console reads before it writes, unless it holds the write lock from its beginning", () => {
    expect([...new Set(recorded.transactions.flatMap(readsBeforeWrites))]).toEqual([]);
  });
});

test("a deleted account leaves nothing in the search index", async () => {
  using server = new ConsoleServer();
  const { api } = server;
  await server.enterSaid(
    "first",
    Array.from({ length: 600 }, () => "xylophone"),
  );
  await server.enterSaid("second", ["marimba"]);
  await api.removeAccount(api.account("first"));
  const texts = api.store.$client.query("SELECT text FROM searchable_texts").all();
  expect(texts).toEqual([{ text: "marimba" }, { text: "interview" }]);
  api.store.$client.run("PRAGMA wal_checkpoint(TRUNCATE)");
  expect(api.filesHolding("xylophone")).toEqual([]);
});
