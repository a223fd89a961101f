export { createDevice, deviceOf } from "./devices.ts";
export { createLink } from "./links.ts";
export {
  hasPassword,
  isPassword,
  MIN_PASSWORD_LENGTH,
  removePassword,
  setPassword,
} from "./password.ts";
export { type ConsoleSession, type OpenedSession, Sessions, signOutEverywhere } from "./sessions.ts";
