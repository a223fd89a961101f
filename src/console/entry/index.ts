export { createLink, type EntryLink } from "./links.ts";
export {
  hasPassword,
  isPassword,
  leastPasswordLength,
  mostPasswordLength,
  PasswordError,
  removePassword,
  setPassword,
} from "./password.ts";
export { type ConsoleSession, type OpenedSession, Sessions, signOutEverywhere } from "./sessions.ts";
