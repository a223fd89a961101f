import { afterAll, describe, expect, test } from "bun:test";
import { available, ffmpegPath, samplePath } from "../../harness/checkout.ts";
import { bodyOf } from "../../harness/client.ts";
import { listContract } from "../../harness/contract.ts";
import { ApiServer } from "../support/http.ts";
import { refusalOf } from "../support/secrets.ts";

const jfk = samplePath("jfk.mp3");
const server = new ApiServer({ recordingsPerAccount: 1000 });
afterAll(() => server[Symbol.dispose]());
const sales = server.workspace("first", "sales");
const legal = server.workspace("first", "legal");
const everywhere = server.client("first");
const { accountId } = everywhere;
const own = {
  sales: server.enterCompleted(accountId, 1, { workspaceId: sales.id }),
  legal: server.enterCompleted(accountId, 1, { workspaceId: legal.id }),
  none: server.enterCompleted(accountId, 1),
};
const strangers = server.workspace("second", "sales");
const theirs = server.enterCompleted(server.client("second").accountId, 1, { workspaceId: strangers.id });

const keys = {
  sales: server.client("first", { workspace: sales }),
  legal: server.client("first", { workspace: legal }),
  none: everywhere,
};
const mismatch = "403 workspace_scope_mismatch";
const rules: [keyof typeof keys, string, string][] = [
  ["sales", own.sales, "200"],
  ["sales", own.legal, mismatch],
  ["sales", own.none, mismatch],
  ["sales", theirs, "404 not_found"],
  ["legal", own.sales, mismatch],
  ["legal", own.legal, "200"],
  ["none", own.sales, "200"],
  ["none", own.legal, "200"],
  ["none", own.none, "200"],
  ["none", theirs, "404 not_found"],
];
const nameOf = (id: string) => Object.entries(own).find(([, value]) => value === id)?.[0] ?? "another account's";

describe("workspaces", () => {
  for (const [key, id, outcome] of rules) {
    test(`a key of ${key} that asks for a recording of ${nameOf(id)}: ${outcome}`, async () => {
      for (const path of ["", "/segments", "/export?format=txt"]) {
        const response = await keys[key].fetch(`/transcriptions/${id}${path}`);
        const got = response.ok ? String(response.status) : await refusalOf(response, "legal", "Segment", accountId);
        expect([path, got]).toEqual([path, outcome]);
      }
      if (outcome === "200") return;
      expect(await refusalOf(await keys[key].fetch(`/transcriptions/${id}`, { method: "DELETE" }))).toBe(outcome);
    });
  }

  test("a pinned key lists its workspace's recordings, an unpinned key the account's, and neither another account's", async () => {
    const listed = async (key: keyof typeof keys) => {
      const page = await bodyOf(await keys[key].fetch("/transcriptions"), 200, listContract);
      return page.data.map(({ id, workspace }) => [id, workspace]);
    };
    const places = {
      sales: { id: sales.id, name: "sales" },
      legal: { id: legal.id, name: "legal" },
    };
    expect(await listed("sales")).toEqual([[own.sales, places.sales]]);
    expect(await listed("legal")).toEqual([[own.legal, places.legal]]);
    expect(await listed("none")).toEqual([
      [own.none, null],
      [own.legal, places.legal],
      [own.sales, places.sales],
    ]);
  });

  test.if(available("the workspace of a created recording", ffmpegPath, jfk))(
    "a recording goes into the key's workspace, or into none",
    async () => {
      const inSales = await keys.sales.create(jfk);
      expect(inSales.workspace).toEqual({ id: sales.id, name: "sales" });
      expect(await keys.none.get(inSales.id)).toEqual(inSales);
      expect(await refusalOf(await keys.legal.fetch(`/transcriptions/${inSales.id}`))).toBe(mismatch);
      const inNone = await keys.none.create(jfk);
      expect(inNone.workspace).toBeNull();
      expect(await refusalOf(await keys.sales.fetch(`/transcriptions/${inNone.id}`))).toBe(mismatch);
    },
  );
});
