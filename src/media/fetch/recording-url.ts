import { addressGuard, forbiddenHost } from "./address-guard.ts";
import type { AllowList } from "./allow-list.ts";
import { hostOf } from "./host.ts";
import { isPlaylistLink } from "./playlist.ts";

const MAX_URL_CHARACTERS = 2048;

/** A link that may be fetched later on, without its fragment, or what is wrong with it in a sentence for the client. */
export type CheckedUrl =
  | { readonly ok: true; readonly url: URL }
  | { readonly ok: false; readonly kind: "invalid" | "playlist"; readonly reason: string };

/**
 * Checks a link to a recording before anything is fetched: http or https, at most 2,048 characters, no credentials, no playlist by its shape,
 * and no address or name of this machine or a private network as its host, unless `allow` has it. Asks no name server, so
 * a name that leads to a private address is found out by fetchRecording.
 */
export function checkRecordingUrl(text: string, allow: AllowList): CheckedUrl {
  const trimmed = text.trim();
  if ([...trimmed].length > MAX_URL_CHARACTERS) {
    return invalid(`The link is longer than ${MAX_URL_CHARACTERS.toLocaleString("en")} characters.`);
  }
  // The URL parser would drop control characters and forgive missing slashes, where other readers see another host.
  if (!/^https?:\/\/[^/\\]/i.test(trimmed) || /\p{Cc}/u.test(trimmed) || !URL.canParse(trimmed)) {
    return invalid("This is not an http or https link.");
  }
  const url = new URL(trimmed);
  if (url.username !== "" || url.password !== "")
    return invalid("A link with a user name or password is not accepted.");
  url.hash = "";
  // This machine's own public addresses are the fetcher's business: a client need not learn them.
  if (forbiddenHost(addressGuard(allow, new Set()), hostOf(url)) !== null) {
    return invalid("The link does not lead to a public address.");
  }
  if (isPlaylistLink(url)) {
    return { ok: false, kind: "playlist", reason: "The link leads to a playlist. Send a link to one recording." };
  }
  return { ok: true, url };
}

function invalid(reason: string): CheckedUrl {
  return { ok: false, kind: "invalid", reason };
}
