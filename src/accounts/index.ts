export {
  type Account,
  type AccountChanges,
  AccountsError,
  changeAccount,
  checkName,
  countAccounts,
  createAccount,
  findAccount,
  getAccount,
  listAccounts,
  requireAccount,
  type Standing,
} from "./accounts.ts";
export { type Auditor, audit, readAudit, trimAuditLog } from "./audit.ts";
export { deleteAccount } from "./delete-account.ts";
export { normalizeVocabulary, setVocabulary } from "./vocabulary.ts";
export {
  createWorkspace,
  deleteWorkspace,
  getWorkspace,
  listWorkspaces,
  requireWorkspace,
  type Workspace,
} from "./workspaces.ts";
