import type { ApiKey } from "../accounts/index.ts";

/** What is known of a request beside the request itself. */
export interface RequestContext {
  /** The client's `X-Request-Id`, or ours. */
  readonly requestId: string;
  /** Set once the request has shown a key that is in force. */
  key: ApiKey | null;
}

const contexts = new WeakMap<Request, RequestContext>();
const clientIdShape = /^[A-Za-z0-9._:-]{1,128}$/;

/** The context of a request; made at the first call. */
export function contextOf(request: Request): RequestContext {
  const known = contexts.get(request);
  if (known !== undefined) return known;
  const sent = request.headers.get("x-request-id");
  const context: RequestContext = {
    requestId: sent !== null && clientIdShape.test(sent) ? sent : crypto.randomUUID(),
    key: null,
  };
  contexts.set(request, context);
  return context;
}
