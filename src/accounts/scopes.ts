import { AccountsError } from "./errors.ts";

/** What a key may be allowed to do. */
export const scopes = ["transcriptions:read", "transcriptions:write", "transcriptions:delete"] as const;
export type Scope = (typeof scopes)[number];

/** @throws {AccountsError} that lists the scopes there are */
export function parseScopes(names: readonly string[]): Scope[] {
  const unknown = names.find((name) => !scopes.some((scope) => scope === name));
  if (unknown !== undefined || names.length === 0) {
    throw new AccountsError(`"${unknown ?? ""}" is no scope; there are ${scopes.join(", ")}`);
  }
  return scopes.filter((scope) => names.includes(scope));
}
