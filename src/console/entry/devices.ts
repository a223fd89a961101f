import { createHmac, timingSafeEqual } from "node:crypto";
import type { Store } from "../../storage/index.ts";
import { newToken } from "./links.ts";
import { passwordHash } from "./password.ts";

/** How long the server recognizes a device after a sign-in. */
const DEVICE_MILLISECONDS = 180 * 86_400_000;

/**
 * A device on which the operator has signed in. Its cookie does not open a session, but strangers cannot spend its
 * attempts at the password.
 */
interface KnownDevice {
  /** The cookie's value. */
  readonly value: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/**
 * Creates the cookie for a device after a sign-in on it. Returns null if no password is set, since there are then no
 * attempts to limit.
 */
export function createDevice(store: Store, now: number): KnownDevice | null {
  const expiresAt = now + DEVICE_MILLISECONDS;
  const payload = `${newToken()}.${expiresAt}`;
  const signature = signatureOf(store, payload);
  return signature === null ? null : { value: `${payload}.${signature}`, expiresAt };
}

/**
 * Returns the id of the device in a cookie's value. Returns null if this server did not create the value, or the value
 * has expired.
 */
export function deviceOf(store: Store, value: string, now: number): string | null {
  const [, id, expiresAt, signature] = /^([\w-]{43})\.(\d{1,15})\.([\w-]{43})$/.exec(value) ?? [];
  if (id === undefined || signature === undefined || Number(expiresAt) <= now) return null;
  const seal = signatureOf(store, `${id}.${expiresAt}`);
  return seal !== null && timingSafeEqual(Buffer.from(seal), Buffer.from(signature)) ? id : null;
}

/**
 * Returns the HMAC of a device's id and expiry; null if no password is set. The key is the stored password hash, which
 * never leaves the server and contains 256 secret bits. Setting another password therefore invalidates all devices.
 */
function signatureOf(store: Store, named: string): string | null {
  const hash = passwordHash(store);
  return hash === null ? null : createHmac("sha256", hash).update(`device ${named}`).digest("base64url");
}
