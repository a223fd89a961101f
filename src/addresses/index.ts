export {
  addressGroup,
  includes,
  isLoopback,
  type Networks,
  parseNetworks,
  plainAddress,
} from "./addresses.ts";
