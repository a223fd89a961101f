import { expect, test } from "bun:test";
import { createAccount, listAccounts } from "../../src/accounts/index.ts";
import { checkWrites, openDatabase, transact } from "../../src/database/index.ts";

const by = { actor: "test", now: 0 };

test("a store whose writes are forbidden rolls back, whether that is known before or only at the commit", () => {
  const store = openDatabase(":memory:");
  let isAllowed = true;
  checkWrites(store, () => {
    if (!isAllowed) throw new Error("forbidden");
  });
  createAccount(store, "before", by);
  const stopped = () =>
    transact(store, (writer) => {
      createAccount(store, "during", by);
      writer.run("UPDATE accounts SET created_at = 5");
      isAllowed = false;
    });
  expect(stopped).toThrow("forbidden");
  expect(() => createAccount(store, "after", by)).toThrow("forbidden");
  const single = store.$client.query("UPDATE accounts SET created_at = 5");
  expect(() => single.run()).toThrow("forbidden");
  expect(() => store.$client.prepare("DELETE FROM accounts RETURNING id").all()).toThrow("forbidden");
  expect(listAccounts(store).map(({ name }) => name)).toEqual(["before"]);
  isAllowed = true;
  createAccount(store, "after", by);
  expect(listAccounts(store).map(({ name }) => name)).toEqual(["before", "after"]);
});
