import { createHmac, timingSafeEqual } from "node:crypto";
import type { Store } from "../../storage/index.ts";
import { passwordHash } from "./password.ts";
import { newToken } from "./tokens.ts";

/** How long a device is known after a sign-in. */
const DEVICE_MILLISECONDS = 180 * 86_400_000;

/** A device on which the operator has signed in: it opens nothing, but strangers can't spend its attempts at the password. */
export interface KnownDevice {
  /** The cookie's value. */
  readonly value: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Names a device after a sign-in on it; null while there is no password, and so no attempts at one. */
export function nameDevice(store: Store, now: number): KnownDevice | null {
  const expiresAt = now + DEVICE_MILLISECONDS;
  const named = `${newToken()}.${expiresAt}`;
  const seal = sealOf(store, named);
  return seal === null ? null : { value: `${named}.${seal}`, expiresAt };
}

/** The id of the device that a cookie's value names; null for one that this server did not name, or no longer knows. */
export function deviceOf(store: Store, value: string, now: number): string | null {
  const [, id, expiresAt, sent] = /^([\w-]{43})\.(\d{1,15})\.([\w-]{43})$/.exec(value) ?? [];
  if (id === undefined || sent === undefined || Number(expiresAt) <= now) return null;
  const seal = sealOf(store, `${id}.${expiresAt}`);
  return seal !== null && timingSafeEqual(Buffer.from(seal), Buffer.from(sent)) ? id : null;
}

/**
 * The key is the stored hash of the password, which never leaves the server and holds 256 bits that only it knows. Another
 * password forgets all devices.
 */
function sealOf(store: Store, named: string): string | null {
  const hash = passwordHash(store);
  return hash === null ? null : createHmac("sha256", hash).update(`device ${named}`).digest("base64url");
}
