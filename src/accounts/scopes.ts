import { AccountsError } from "./errors.ts";

/** Permissions that a key can have. */
export const scopes = ["transcriptions:read", "transcriptions:write", "transcriptions:delete"] as const;
export type Scope = (typeof scopes)[number];

/**
 * Validates scope names and returns each once, in the order of `scopes`.
 * @throws {AccountsError} that lists the valid scopes
 */
export function parseScopes(names: readonly string[]): Scope[] {
  const unknown = names.find((name) => !scopes.some((scope) => scope === name));
  if (unknown !== undefined || names.length === 0) {
    throw new AccountsError(`"${unknown ?? ""}" is no scope; there are ${scopes.join(", ")}`);
  }
  return scopes.filter((scope) => names.includes(scope));
}
