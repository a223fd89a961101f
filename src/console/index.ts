export { bundlePage, type ConsoleAssets } from "./bundle-page.ts";
export { type Console, consolePath, createConsole } from "./console.ts";
export {
  createLink,
  type EntryLink,
  leastPasswordLength,
  PasswordError,
  removePassword,
  setPassword,
  signOutEverywhere,
} from "./entry/index.ts";
export type { ConsoleServices, WorkerStanding } from "./services.ts";
