import { Elysia } from "elysia";
import {
  AccountsError,
  type ApiKey,
  type Auditor,
  createKey,
  getWorkspace,
  listAccounts,
  revokeKey,
  scopes,
} from "../../accounts/index.ts";
import { readQuery } from "../../http/index.ts";
import type { Store } from "../../storage/index.ts";
import { accountPageSchema, keySchema, madeKeySchema, newKeySchema } from "../contract/accounts.ts";
import { ConsoleError } from "../errors.ts";
import { decodeCursor, firstPage } from "../pages.ts";
import { accountsQuery } from "../queries.ts";
import { readBody } from "../read-body.ts";
import { requireAccount, requireWorkspace } from "../require-owner.ts";
import type { ConsoleServices } from "../services.ts";
import { showAccount, showKey } from "../show-account.ts";
import { consoleAuditor } from "../signed-in.ts";

const accountId = /^[\w-]{1,64}$/;
const dayMilliseconds = 86_400_000;

/** Creates the routes that list accounts with their usage, and create and revoke keys. */
export function accountRoutes(services: ConsoleServices) {
  const { store, now } = services;
  return new Elysia({ name: "console-accounts" })
    .get(
      "/accounts",
      ({ request }) => {
        const { cursor, limit } = readQuery(request, accountsQuery);
        const after = decodeCursor("a", accountId, cursor);
        const rows = listAccounts(store).filter(({ id }) => after === null || id > after);
        const { page, nextCursor } = firstPage("a", rows, limit);
        return {
          accounts: page.map((account) => showAccount(services, account)),
          scopes: [...scopes],
          next_cursor: nextCursor,
        };
      },
      { response: { 200: accountPageSchema } },
    )
    .post(
      "/keys",
      async ({ request, set }) => {
        const values = await readBody(request, newKeySchema);
        const account = requireAccount(store, values.account);
        const name = values.name.trim();
        if (name === "") {
          const message = "Give the key a name, to know later what it is for.";
          throw new ConsoleError("validation_failed", message, { field: "name" });
        }
        const workspace = requireWorkspace(store, account, values.workspace);
        const by = consoleAuditor(request, now());
        const days = values.expires_in_days ?? null;
        const expiresAt = days === null ? null : by.now + days * dayMilliseconds;
        const made = createKey(store, account, { name, workspace, expiresAt, scopes: values.scopes ?? scopes }, by);
        set.status = 201;
        return { key: showKey(made.key, workspace, by.now), secret: made.secret };
      },
      { parse: "none", response: { 201: madeKeySchema } },
    )
    .delete(
      "/keys/:id",
      ({ request, params }) => {
        const revoked = revoke(store, params.id, consoleAuditor(request, now()));
        const workspace = revoked.workspaceId === null ? null : getWorkspace(store, revoked.workspaceId);
        return showKey(revoked, workspace, now());
      },
      { response: { 200: keySchema } },
    );
}

/**
 * Revokes a key.
 * @throws {ConsoleError} 404 for an unknown key
 */
function revoke(store: Store, id: string, by: Auditor): ApiKey {
  try {
    return revokeKey(store, id, by);
  } catch (error) {
    if (error instanceof AccountsError) throw new ConsoleError("not_found", "There is no such key.");
    throw error;
  }
}
