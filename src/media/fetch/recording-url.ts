import { type AllowList, addressGuard, forbiddenHost, hostOf } from "../../addresses/index.ts";
import { isPlaylistLink } from "./check-content.ts";

const MAX_URL_CHARACTERS = 2048;

/** A link to be fetched later, without its fragment, or the reason for its refusal as a sentence for the client. */
type CheckedUrl =
  | { readonly ok: true; readonly url: URL }
  | { readonly ok: false; readonly kind: "invalid" | "playlist"; readonly reason: string };

/**
 * Checks a link to a recording before anything is fetched. Accepted are http and https, at most 2,048 characters, no
 * credentials, and no link that looks like a playlist. The host must not be an address or name of this machine or of a
 * private network, unless `allow` contains it. No name server is asked: fetchRecording detects names that resolve to
 * private addresses.
 */
export function checkRecordingUrl(text: string, allow: AllowList): CheckedUrl {
  const trimmed = text.trim();
  if ([...trimmed].length > MAX_URL_CHARACTERS) {
    return invalid(`The link is longer than ${MAX_URL_CHARACTERS.toLocaleString("en")} characters.`);
  }
  // The URL parser drops control characters and tolerates missing slashes, so other programs could read a different
  // host.
  if (!/^https?:\/\/[^/\\]/i.test(trimmed) || /\p{Cc}/u.test(trimmed) || !URL.canParse(trimmed)) {
    return invalid("This is not an http or https link.");
  }
  const url = new URL(trimmed);
  if (url.username !== "" || url.password !== "")
    return invalid("A link with a user name or password is not accepted.");
  url.hash = "";
  // Only the fetch itself checks this machine's own public addresses, because clients must not learn them.
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
