export { createDevice, deviceOf } from "./devices.ts";
export { createLink } from "./links.ts";
export { passwordHash, removePassword, setPassword } from "./password.ts";
export { SignInProvider } from "./provider.ts";
export { isInvalidAnswer, type ProviderFault, probeProvider } from "./provider-connection.ts";
export { checkIssuer, readClientSecret, rulesMark } from "./provider-settings.ts";
export {
  type ConsoleSession,
  type OpenedSession,
  Sessions,
  signOutEverywhere,
} from "./sessions.ts";
