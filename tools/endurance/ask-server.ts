// Asks a server again and again, from its own network, and prints each answer as a line of JSON: ORIGIN KEY.
import type { Answer } from "./takeover-machines.ts";

const READ_MILLISECONDS = 50;
const CREATE_MILLISECONDS = 250;
/** Longer than a server waits for its standby. */
const PATIENCE_MILLISECONDS = 20_000;

const [origin = "", key = ""] = process.argv.slice(2);

/** Half a second of silence, which is processed within a moment. */
function silence(): Blob {
  const samples = 8000;
  const header = new DataView(new ArrayBuffer(44));
  const text = (at: number, word: string) => {
    for (const [index, byte] of Buffer.from(word).entries()) header.setUint8(at + index, byte);
  };
  text(0, "RIFF");
  header.setUint32(4, 36 + 2 * samples, true);
  text(8, "WAVEfmt ");
  header.setUint32(16, 16, true);
  header.setUint16(20, 1, true);
  header.setUint16(22, 1, true);
  header.setUint32(24, 16_000, true);
  header.setUint32(28, 32_000, true);
  header.setUint16(32, 2, true);
  header.setUint16(34, 16, true);
  text(36, "data");
  header.setUint32(40, 2 * samples, true);
  return new Blob([header, new Uint8Array(2 * samples)]);
}

async function ask(method: "GET" | "POST", body: FormData | null): Promise<void> {
  const sentAt = Date.now();
  let status = 0;
  let id: string | null = null;
  try {
    const response = await fetch(`${origin}/api/public/v1/transcriptions?limit=1`, {
      method,
      body,
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(PATIENCE_MILLISECONDS),
    });
    status = response.status;
    const answer = (await response.json()) as { readonly id?: string };
    id = answer.id ?? null;
  } catch {
    // No whole answer.
  }
  const answer: Answer = { method, sentAt, at: Date.now(), status, id };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

setInterval(() => void ask("GET", null), READ_MILLISECONDS);
setInterval(() => {
  const form = new FormData();
  form.set("file", silence(), "silence.wav");
  void ask("POST", form);
}, CREATE_MILLISECONDS);
