export { deviceOf, type KnownDevice, nameDevice } from "./devices.ts";
export { createLink } from "./links.ts";
export {
  hasPassword,
  isPassword,
  leastPasswordLength,
  PasswordError,
  removePassword,
  setPassword,
} from "./password.ts";
export { type ConsoleSession, type OpenedSession, Sessions, signOutEverywhere } from "./sessions.ts";
