import { expect, test } from "bun:test";
import { bodyOf } from "../../../harness/client.ts";
import { accountPageSchema, replacementListSchema } from "../../../src/console/contract/index.ts";
import { ConsoleServer } from "../../support/console.ts";

test("operators add, change, list and remove the replacements of an account", async () => {
  using server = new ConsoleServer();
  const { id } = server.api.account("acme");
  const operator = await server.operator();
  const path = `/accounts/${id}/replacements`;
  const add = (words: string, text: string, match_case = false) =>
    operator.send("POST", path, { words, text, match_case });
  await bodyOf(await add("jon", "Jon"), 201, replacementListSchema);
  const { replacements, account, limit } = await bodyOf(await add("Jon", "John"), 201, replacementListSchema);
  expect([account.name, limit]).toEqual(["acme", 1000]);
  expect(replacements).toMatchObject([
    { words: "Jon", text: "John", match_case: false, created_by: "operator (console)" },
  ]);
  for (const [words, text] of [
    ["…", "a"],
    ["a", " "],
    ["x".repeat(101), "a"],
    ["a", "x".repeat(201)],
  ] as const) {
    const refused = await add(words, text);
    expect([words, refused.status]).toEqual([words, 422]);
  }
  const { accounts } = await operator.read("/accounts", accountPageSchema);
  expect(accounts[0]?.replacements).toBe(1);
  const gone = `/replacements/${replacements[0]?.id}`;
  const left = await bodyOf(await operator.send("DELETE", gone), 200, replacementListSchema);
  expect([left.account.id, left.replacements]).toEqual([id, []]);
  expect((await operator.send("DELETE", gone)).status).toBe(404);
});
