import { expect } from "bun:test";

/** What no answer may hold, whatever went wrong: stacks, paths, SQL, the names of our parts, keys. */
const forbidden = [
  /\n\s+at /,
  /\.ts\b/,
  /node_modules|\/tmp|\/home|\/data\//,
  /\b(SELECT|INSERT|UPDATE|sqlite|SQLITE|drizzle|constraint|FOREIGN KEY)\b/,
  /\b(elysia|busboy|ffmpeg|pino|Error:)/i,
  /trs_/,
];

/** Fails when an answer's text gives away what is nobody's business. @param others what else must not be in it */
export function expectNoSecrets(text: string, ...others: readonly string[]): void {
  for (const pattern of forbidden) expect(text).not.toMatch(pattern);
  for (const other of others) expect(text).not.toContain(other);
}

/** `STATUS code` of an answer that must be an error; it is looked through for secrets. */
export async function refusalOf(response: Response, ...others: readonly string[]): Promise<string> {
  const text = await response.text();
  expectNoSecrets(text, ...others);
  const { error } = text.startsWith("{") ? (JSON.parse(text) as { error?: string }) : {};
  return `${response.status} ${error ?? text.slice(0, 40)}`;
}
