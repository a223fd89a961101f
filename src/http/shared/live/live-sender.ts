import type { Store } from "../../../database/index.ts";
import type { LiveSender } from "../../../live/index.ts";
import { callerOf, contextOf } from "../request-context.ts";
import { senderOf } from "../request-intake.ts";

/** Returns who opens a live session with a request: the application that has the key, or the client of a secret. */
export function liveSenderOf(
  request: Request,
  services: { readonly store: Store; readonly now: () => number },
): LiveSender {
  const { clientSecret } = contextOf(request);
  const holder = clientSecret === null ? callerOf(request).key.id : clientSecret.id;
  return { ...senderOf(request, services), holder };
}
