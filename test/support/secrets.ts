import { expect } from "bun:test";

/** Texts that no answer may contain: stack traces, paths, SQL, names of internal parts, keys. */
const forbidden = [
  /\n\s+at /,
  /\.ts\b/,
  /node_modules|\/tmp|\/home|\/data\//,
  /\b(SELECT|INSERT|UPDATE|sqlite|SQLITE|drizzle|constraint|FOREIGN KEY)\b/,
  /\b(elysia|busboy|ffmpeg|pino|Error:)/i,
  /trs_/,
];

/** Fails when an answer's text contains a secret. @param others additional forbidden texts */
export function expectNoSecrets(text: string, ...others: readonly string[]): void {
  for (const pattern of forbidden) expect(text).not.toMatch(pattern);
  for (const other of others) expect(text).not.toContain(other);
}

/** Returns `STATUS code` of an answer that must be an error without secrets. */
export async function refusalOf(response: Response, ...others: readonly string[]): Promise<string> {
  const text = await response.text();
  expectNoSecrets(text, ...others);
  const { error } = text.startsWith("{") ? (JSON.parse(text) as { error?: string }) : {};
  return `${response.status} ${error ?? text.slice(0, 40)}`;
}
