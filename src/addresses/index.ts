export {
  type AddressGuard,
  addressGuard,
  forbiddenHost,
  GuardError,
  listedGuard,
  ownAddresses,
  type ResolveHost,
  resolveHost,
} from "./address-guard.ts";
export { type AddressWithPort, formatAddressWithPort, parseAddressWithPort } from "./address-with-port.ts";
export {
  addressGroup,
  includes,
  isLoopback,
  type Networks,
  parseNetworks,
  plainAddress,
} from "./addresses.ts";
export { type AllowList, hostOf, mayAllow, parseAllowList } from "./allow-list.ts";
export { guardedRequest, UpgradeError } from "./guarded-request.ts";
export { retryWait } from "./retry-wait.ts";
