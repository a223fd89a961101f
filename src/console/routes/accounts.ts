import { Elysia } from "elysia";
import {
  createKey,
  getAccount,
  getWorkspace,
  listAccounts,
  listWorkspaces,
  requireKey,
  revokeKey,
  scopes,
} from "../../accounts/index.ts";
import { readQuery } from "../../http/index.ts";
import { accountPageSchema, keySchema, madeKeySchema, newKeySchema } from "../contract.ts";
import { decodeCursor, encodeCursor } from "../cursors.ts";
import { ConsoleError } from "../errors.ts";
import { accountsQuery } from "../queries.ts";
import { readBody } from "../read-body.ts";
import type { ConsoleServices } from "../services.ts";
import { showAccount, showKey } from "../show-account.ts";
import { consoleAuditor } from "../signed-in.ts";

const accountId = /^[\w-]{1,64}$/;
const dayMilliseconds = 86_400_000;

/** Accounts with what they have used; keys, which are made and revoked. */
export function accountRoutes(services: ConsoleServices) {
  const { store, now } = services;
  return new Elysia({ name: "console-accounts" })
    .get(
      "/accounts",
      ({ request }) => {
        const { cursor, limit } = readQuery(request, accountsQuery);
        const after = decodeCursor("a", accountId, cursor);
        const rows = listAccounts(store).filter(({ id }) => after === null || id > after);
        const page = rows.slice(0, limit);
        const last = page.at(-1);
        return {
          accounts: page.map((account) => showAccount(services, account)),
          scopes: [...scopes],
          next_cursor: rows.length > limit && last !== undefined ? encodeCursor("a", last.id) : null,
        };
      },
      { response: { 200: accountPageSchema } },
    )
    .post(
      "/keys",
      async ({ request, set }) => {
        const values = await readBody(request, newKeySchema);
        const account = getAccount(store, values.account);
        if (account === null) throw invalid("account", "There is no such account.");
        const name = values.name.trim();
        if (name === "") throw invalid("name", "Give the key a name, to know later what it is for.");
        const workspaces = listWorkspaces(store, account);
        const workspace = workspaces.find(({ id }) => id === values.workspace) ?? null;
        if (workspace === null && (values.workspace ?? null) !== null) {
          throw invalid("workspace", "The account has no such workspace.");
        }
        const by = consoleAuditor(request, now());
        const days = values.expires_in_days ?? null;
        const expiresAt = days === null ? null : by.now + days * dayMilliseconds;
        const made = createKey(store, account, { name, workspace, expiresAt, scopes: values.scopes ?? scopes }, by);
        set.status = 201;
        return { key: showKey(made.key, workspaces, by.now), secret: made.secret };
      },
      { parse: "none", response: { 201: madeKeySchema } },
    )
    .delete(
      "/keys/:id",
      ({ request, params }) => {
        const key = listedKey(services, params.id);
        const revoked = revokeKey(store, key.id, consoleAuditor(request, now()));
        const workspace = revoked.workspaceId === null ? null : getWorkspace(store, revoked.workspaceId);
        return showKey(revoked, workspace === null ? [] : [{ id: workspace.id, name: workspace.name }], now());
      },
      { response: { 200: keySchema } },
    );
}

/** @throws {ConsoleError} 404 */
function listedKey({ store }: ConsoleServices, id: string) {
  try {
    return requireKey(store, id);
  } catch {
    throw new ConsoleError("not_found", "There is no such key.");
  }
}

function invalid(field: string, message: string): ConsoleError {
  return new ConsoleError("validation_failed", message, { field });
}
