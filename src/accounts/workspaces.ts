import { and, eq, isNotNull, lte, or } from "drizzle-orm";
import { type Store, tables, transact } from "../database/index.ts";
import { type Account, AccountsError, checkName } from "./accounts.ts";
import { type Auditor, audit } from "./audit.ts";

export type Workspace = typeof tables.workspaces.$inferSelect;

/**
 * Creates a workspace.
 * @throws {AccountsError} when the name is not valid, or the account already has a workspace of that name
 */
export function createWorkspace(store: Store, account: Account, name: string, by: Auditor): Workspace {
  checkName(name);
  return transact(store, (transaction) => {
    const workspace = transaction
      .insert(tables.workspaces)
      .values({ id: Bun.randomUUIDv7(), accountId: account.id, name, createdAt: by.now })
      .onConflictDoNothing({ target: [tables.workspaces.accountId, tables.workspaces.name] })
      .returning()
      .get();
    if (workspace === undefined) throw new AccountsError(`${account.name} has a workspace named ${name} already`);
    audit(transaction, by, "workspaces.create", workspace.id, { account: account.name, name });
    return workspace;
  });
}

export function listWorkspaces(store: Store, account: Account): Workspace[] {
  return store
    .select()
    .from(tables.workspaces)
    .where(eq(tables.workspaces.accountId, account.id))
    .orderBy(tables.workspaces.id)
    .all();
}

export function getWorkspace(store: Store, id: string): Workspace | null {
  return store.select().from(tables.workspaces).where(eq(tables.workspaces.id, id)).get() ?? null;
}

/** Returns the account's workspace with the given name or id. @throws {AccountsError} when there is none */
export function requireWorkspace(store: Store, account: Account, nameOrId: string): Workspace {
  const found = listWorkspaces(store, account).find(({ id, name }) => name === nameOrId || id === nameOrId);
  if (found !== undefined) return found;
  throw new AccountsError(
    `${account.name} has no workspace ${nameOrId}; create it with: transcribe workspaces create ${nameOrId} --account ${account.name}`,
  );
}

/**
 * Deletes a workspace and those of its pinned keys that are revoked or expired. Recordings that are being deleted
 * remain without a workspace until they are removed.
 * @throws {AccountsError} while active keys are pinned to the workspace or it has recordings, folders or live sessions
 */
export function deleteWorkspace(store: Store, workspace: Workspace, by: Auditor): void {
  const { apiKeys, folders, liveSessions, recordings, workspaces } = tables;
  transact(store, (transaction) => {
    transaction
      .delete(apiKeys)
      .where(
        and(eq(apiKeys.workspaceId, workspace.id), or(isNotNull(apiKeys.revokedAt), lte(apiKeys.expiresAt, by.now))),
      )
      .run();
    transaction
      .update(recordings)
      .set({ workspaceId: null })
      .where(and(eq(recordings.workspaceId, workspace.id), isNotNull(recordings.deletedAt)))
      .run();
    const inUse =
      transaction.select().from(apiKeys).where(eq(apiKeys.workspaceId, workspace.id)).get() ??
      transaction.select().from(recordings).where(eq(recordings.workspaceId, workspace.id)).get() ??
      transaction.select().from(folders).where(eq(folders.workspaceId, workspace.id)).get() ??
      transaction.select().from(liveSessions).where(eq(liveSessions.workspaceId, workspace.id)).get();
    if (inUse !== undefined) {
      throw new AccountsError(
        `workspace ${workspace.name} still has keys, recordings, folders or open live sessions; revoke the keys, delete the recordings and remove the folders first`,
      );
    }
    transaction.delete(workspaces).where(eq(workspaces.id, workspace.id)).run();
    audit(transaction, by, "workspaces.delete", workspace.id, { name: workspace.name });
  });
}
