export { type Account, createAccount, listAccounts, requireAccount } from "./accounts.ts";
export { AccountsError } from "./errors.ts";
export { type ApiKey, authenticate, createKey, listKeys, revokeKey } from "./keys.ts";
