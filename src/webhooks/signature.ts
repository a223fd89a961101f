import { Webhook } from "standardwebhooks";

/**
 * Returns the headers that identify and sign a message: https://www.standardwebhooks.com
 * @param id the same in all attempts, by which a receiver recognizes a repeated message
 * @param secrets the current one and, during a rotation, the former one
 */
export function signedHeaders(
  id: string,
  body: string,
  secrets: readonly string[],
  now: number,
): Readonly<Record<string, string>> {
  const time = new Date(now);
  return {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(now / 1000)),
    "webhook-signature": secrets.map((secret) => new Webhook(secret).sign(id, time, body)).join(" "),
  };
}
