import type { ConsoleSession, KnownDevice } from "./entry/index.ts";

const sessionName = "transcribe_console";
const deviceName = "transcribe_console_device";

/** The cookie of a request that opens a session; null where there is none. */
export function sessionSecret(request: Request): string | null {
  return cookieOf(request, sessionName);
}

/** The cookie of a request from a device on which the operator has signed in; null where there is none. */
export function deviceCookieOf(request: Request): string | null {
  return cookieOf(request, deviceName);
}

/**
 * `Set-Cookie` for a session. Without a path a cookie is for the folder in which it was set (RFC 6265, 5.1.4), so for
 * `/console/data` as the browser sees it, whatever a proxy puts before it.
 * @param isSecure whether the browser speaks HTTPS
 */
export function sessionCookie(secret: string, { endsAt }: ConsoleSession, now: number, isSecure: boolean): string {
  return cookie(sessionName, secret, endsAt - now, isSecure);
}

/** `Set-Cookie` by which a device is known at the next sign-in, also after signing out. */
export function deviceCookie({ value, expiresAt }: KnownDevice, now: number, isSecure: boolean): string {
  return cookie(deviceName, value, expiresAt - now, isSecure);
}

/** `Set-Cookie` that has the browser forget its session. */
export function noCookie(isSecure: boolean): string {
  return cookie(sessionName, "", 0, isSecure);
}

function cookieOf(request: Request, name: string): string | null {
  return new Bun.CookieMap(request.headers.get("cookie") ?? "").get(name);
}

function cookie(name: string, value: string, milliseconds: number, isSecure: boolean): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  return `${name}=${value}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
}
