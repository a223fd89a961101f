import { createHmac, timingSafeEqual } from "node:crypto";
import { newToken } from "./links.ts";

/** How long the server recognizes a device after a sign-in. */
const DEVICE_MILLISECONDS = 180 * 86_400_000;

/**
 * A device on which a person has signed in with a password. Its cookie does not open a session, but strangers cannot
 * spend its attempts at this password.
 */
interface KnownDevice {
  /** The cookie's value. */
  readonly value: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/**
 * Creates the cookie for a device after a sign-in on it.
 * @param passwordHash stored hash of the password whose attempts the device gets
 */
export function createDevice(passwordHash: string, now: number): KnownDevice {
  const expiresAt = now + DEVICE_MILLISECONDS;
  const payload = `${newToken()}.${expiresAt}`;
  return { value: `${payload}.${signatureOf(passwordHash, payload)}`, expiresAt };
}

/**
 * Returns the id of the device in a cookie's value. Returns null if this server did not create the value for this
 * password, or the value has expired.
 */
export function deviceOf(passwordHash: string, value: string, now: number): string | null {
  const [, id, expiresAt, signature] = /^([\w-]{43})\.(\d{1,15})\.([\w-]{43})$/.exec(value) ?? [];
  if (id === undefined || signature === undefined || Number(expiresAt) <= now) return null;
  const seal = signatureOf(passwordHash, `${id}.${expiresAt}`);
  return timingSafeEqual(Buffer.from(seal), Buffer.from(signature)) ? id : null;
}

/**
 * Returns the HMAC of a device's id and expiry. The key is the stored hash of the password, which never leaves the
 * server and contains 256 secret bits. Setting another password therefore invalidates all its devices.
 */
function signatureOf(passwordHash: string, named: string): string {
  return createHmac("sha256", passwordHash).update(`device ${named}`).digest("base64url");
}
