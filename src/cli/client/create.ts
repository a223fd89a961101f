import { randomUUID } from "node:crypto";
import type { TranscriptionResource } from "../../http/index.ts";
import type { ApiClient } from "./api-client.ts";
import { ClientError } from "./client-error.ts";
import type { Persistence, RunOptions } from "./persistence.ts";
import { uploadForm } from "./upload-form.ts";

/** Bodies that arrived broken are sent again so often. */
const maxBroken = 2;

export interface CreateOptions extends RunOptions {
  readonly language: string | undefined;
  readonly onSent: (fraction: number) => void;
}

/**
 * Sends one recording until the server has it: with one Idempotency-Key, so that a lost answer makes no second recording;
 * with a fresh one after a body that arrived broken, which the server remembers.
 * @throws {ClientError} @throws {CommandError} for what can't be read
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
