import { randomUUID } from "node:crypto";
import type { TranscriptionResource } from "../../http/index.ts";
import type { ApiClient } from "./api-client.ts";
import { ClientError } from "./client-error.ts";
import type { Persistence, RunOptions } from "./persistence.ts";
import { uploadForm } from "./upload-form.ts";

/** Maximum number of times that a body is sent again because it arrived damaged. */
const maxBroken = 2;

export interface CreateOptions extends RunOptions {
  readonly language: string | undefined;
  readonly onSent: (fraction: number) => void;
}

/**
 * Sends one recording until the server has it. Retries use the same Idempotency-Key, so that a lost response does not
 * create a second recording. After a body that arrived damaged, a new key is used: the server remembers the result of
 * the old one.
 * @throws {ClientError} @throws {CommandError} when the recording can't be read
 */
export async function createRecording(
  client: ApiClient,
  persistence: Persistence,
  input: string,
  options: CreateOptions,
): Promise<TranscriptionResource> {
  const form = uploadForm(input, options.language);
  let idempotencyKey = randomUUID();
  for (let broken = 0; ; broken++) {
    try {
      const request = { form, idempotencyKey, onSent: options.onSent };
      return await persistence.run(() => client.create(request, persistence.signal), options);
    } catch (error) {
      const arrivedBroken = error instanceof ClientError && error.code === "uploaded_file_cannot_be_processed";
      if (!arrivedBroken || broken >= maxBroken) throw error;
      idempotencyKey = randomUUID();
    }
  }
}
