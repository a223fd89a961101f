import { rename } from "node:fs/promises";
import { dirname } from "node:path";
import type { ApiKey } from "../accounts/index.ts";
import type { Settings } from "../config/index.ts";
import type { Language } from "../engine/index.ts";
import { probeRecording } from "../media/index.ts";
import type { RecordingQueue } from "../queue/index.ts";
import { type DataDirectory, syncDirectory } from "../storage/index.ts";
import type { Recording, Recordings } from "../transcriptions/index.ts";
import { ApiError, invalidField } from "./errors.ts";
import { type ReceivedFile, type ReceivedUpload, receiveUpload } from "./upload/index.ts";
import { toUploadError } from "./upload-errors.ts";

export interface CreateServices {
  readonly recordings: Recordings;
  readonly queue: Pick<RecordingQueue, "add">;
  readonly dataDirectory: DataDirectory;
  readonly languages: readonly Language[];
  readonly ffmpegPath: string;
  readonly limits: Settings["limits"];
}

/** Takes an upload in and enters it as a recording of the key's account. @throws {ApiError} and leaves nothing behind */
export type CreateTranscription = (request: Request, key: ApiKey) => Promise<Recording>;

/** What a body may hold beside its recording: other parts, and the multipart form itself. */
const bodyAllowanceBytes = 64 * 1024 * 1024;

export function createTranscriptionWith(services: CreateServices): CreateTranscription {
  const { recordings, dataDirectory, limits } = services;
  const places = new UploadPlaces(recordings, limits.recordings_per_account);
  return async (request, key) => {
    const giveBack = places.take(key.accountId);
    try {
      const upload = await receiveUpload(request, {
        directory: dataDirectory.incoming,
        maxFileBytes: limits.upload_bytes,
        maxBodyBytes: limits.upload_bytes + bodyAllowanceBytes,
      });
      if (!upload.ok) throw toUploadError(upload.failure, limits.upload_bytes);
      await using received = upload;
      const file = requireFile(received);
      const language = chosenLanguage(services.languages, received.fields.language);
      await requireAudio(services, file.path);
      return await enter(services, key, file, language);
    } finally {
      giveBack();
    }
  };
}

/** The file is in its place before the record says so; a file without a record is swept away at the next start. */
async function enter(
  { recordings, queue, dataDirectory }: CreateServices,
  key: ApiKey,
  file: ReceivedFile,
  language: Language | null,
): Promise<Recording> {
  const id = Bun.randomUUIDv7();
  await rename(file.path, dataDirectory.uploadPath(id));
  await syncDirectory(dirname(dataDirectory.uploadPath(id)));
  const recording = recordings.create({
    id,
    accountId: key.accountId,
    pinnedLanguage: language?.code ?? null,
    sourceName: withoutExtension(file.name),
    sizeBytes: file.sizeBytes,
  });
  queue.add(id);
  return recording;
}

function requireFile({ fields, file }: ReceivedUpload): ReceivedFile {
  if (fields.url !== undefined && file !== null) throw invalidField("url", "Send either a file or a url, not both.");
  if (fields.url !== undefined)
    throw invalidField("url", "This server does not fetch links yet; send the file itself.");
  if (file === null) throw invalidField("url", "Send a recording: a file, or a url.");
  return file;
}

function chosenLanguage(languages: readonly Language[], code: string | undefined): Language | null {
  if (code === undefined) return null;
  const language = languages.find((candidate) => candidate.code === code.trim().toLowerCase());
  if (language === undefined) throw invalidField("language", "This is no language code of GET /languages.");
  return language;
}

async function requireAudio({ ffmpegPath, limits }: CreateServices, path: string): Promise<void> {
  const probed = await probeRecording(ffmpegPath, path);
  if (!probed.ok) throw invalidField("file", probed.reason);
  if (!probed.durationIsEstimate && (probed.durationSeconds ?? 0) > limits.recording_seconds) {
    throw invalidField("file", `The recording is longer than ${limits.recording_seconds / 3600} hours.`);
  }
}

function withoutExtension(name: string): string {
  const stem = name.replace(/\.[^.]*$/, "");
  return stem === "" ? name : stem;
}

/** Places of an account: a recording that is queued or processing has one, and so has an upload on its way in. */
class UploadPlaces {
  readonly #recordings: Recordings;
  readonly #limit: number;
  readonly #uploading = new Map<string, number>();

  constructor(recordings: Recordings, limit: number) {
    this.#recordings = recordings;
    this.#limit = limit;
  }

  /** @returns a function that gives the place back; a recording that was entered counts by itself then */
  take(accountId: string): () => void {
    const uploading = this.#uploading.get(accountId) ?? 0;
    if (uploading + this.#recordings.countOpen(accountId) >= this.#limit) {
      throw new ApiError(
        "concurrency_limit",
        `${this.#limit} recordings of this account are queued or processing; send this one when one of them has ended.`,
      );
    }
    this.#uploading.set(accountId, uploading + 1);
    return () => {
      const left = (this.#uploading.get(accountId) ?? 1) - 1;
      if (left === 0) this.#uploading.delete(accountId);
      else this.#uploading.set(accountId, left);
    };
  }
}
