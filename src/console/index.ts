export { bundlePage, type ConsoleAssets } from "./bundle-page.ts";
export { type Console, consolePath, createConsole, isConsolePath, toConsoleAnswer } from "./console.ts";
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
} from "./entry/index.ts";
export type { WorkerStatus } from "./services.ts";
