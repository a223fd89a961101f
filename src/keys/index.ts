export { KeyUsage } from "./key-usage.ts";
export {
  type ApiKey,
  activeKey,
  authenticate,
  checkedKeyName,
  createKey,
  defaultScopes,
  listKeys,
  revokeKey,
  rotateKey,
  type Scope,
  scopes,
} from "./keys.ts";
