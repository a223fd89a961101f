export { KeyUsage } from "./key-usage.ts";
export {
  type ApiKey,
  activeKey,
  authenticate,
  checkedKeyName,
  createKey,
  listKeys,
  revokeKey,
  rotateKey,
  type Scope,
  scopes,
} from "./keys.ts";
