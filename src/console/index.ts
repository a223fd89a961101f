export { bundlePage, type ConsoleAssets } from "./bundle-page.ts";
export { type Console, consolePath, createConsole } from "./console.ts";
export {
  createLink,
  leastPasswordLength,
  PasswordError,
  removePassword,
  setPassword,
  signOutEverywhere,
} from "./entry/index.ts";
export type { WorkerStanding } from "./services.ts";
