import { getAccount, getWorkspace } from "../accounts/index.ts";
import type { Recording } from "../recordings/index.ts";
import type { Store } from "../storage/index.ts";
import type { Named } from "./contract/shared.ts";

/** Returns the id and the name of an account or a workspace. */
export function named({ id, name }: Named): Named {
  return { id, name };
}

/** Looks up the account and the workspace of recordings, once for each account and workspace. */
export class Owners {
  readonly #store: Store;
  readonly #accounts = new Map<string, Named>();
  readonly #workspaces = new Map<string, Named>();

  constructor(store: Store) {
    this.#store = store;
  }

  accountOf({ accountId }: Recording): Named {
    return remembered(this.#accounts, accountId, (id) => getAccount(this.#store, id));
  }

  workspaceOf({ workspaceId }: Recording): Named | null {
    if (workspaceId === null) return null;
    return remembered(this.#workspaces, workspaceId, (id) => getWorkspace(this.#store, id));
  }
}

/** Returns an account or a workspace. If it has just been deleted, its id is used as its name. */
function remembered(known: Map<string, Named>, id: string, look: (id: string) => Named | null): Named {
  const found = known.get(id) ?? named(look(id) ?? { id, name: id });
  known.set(id, found);
  return found;
}
