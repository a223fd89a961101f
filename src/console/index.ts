export { bundlePage, type ConsoleAssets } from "./server/bundle-page.ts";
export { type Console, consolePath, createConsole, isConsolePath, toConsoleAnswer } from "./server/console.ts";
export {
  checkIssuer,
  createLink,
  isInvalidAnswer,
  type ProviderFault,
  probeProvider,
  readClientSecret,
  removePassword,
  setPassword,
  signOutEverywhere,
} from "./server/entry/index.ts";
export type { WorkerStatus } from "./server/services.ts";
