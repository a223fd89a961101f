import { parse } from "node:path";
import type { Recording, Writer } from "../database/index.ts";
import type { Library } from "../library/index.ts";
import type { RecordingQueue } from "../queue/index.ts";
import type { Hints } from "../text/index.ts";
import { type CreateLimitServices, CreateLimits, type CreatePlace } from "./create-limits.ts";
import { type ExamineServices, RecordingExaminer, type SourceFile } from "./examine-recording.ts";
import { IntakeError } from "./intake-error.ts";
import type { Sender } from "./sender.ts";
import { UploadSpace } from "./upload-space.ts";

export interface IntakeServices extends ExamineServices, CreateLimitServices {
  readonly library: Pick<Library, "create">;
  readonly queue: Pick<RecordingQueue, "add">;
  /** Returns the reason why no work is accepted now, as text for people; null if work is accepted. */
  readonly refusal: () => string | null;
}

/** The recording to transcribe: a file, or a link that is yet to be fetched. */
export type Source =
  | { readonly type: "file"; readonly file: SourceFile }
  | { readonly type: "url"; readonly url: string };

/** A recording to create, with what is known about it. */
export interface Submission {
  readonly source: Source;
  readonly pinnedLanguage: string | null;
  readonly hints: Hints;
  /** Whether the speech is translated to English as well; false by default. */
  readonly isTranslated?: boolean;
  /** Id or absolute path of the speech model. */
  readonly speechModel: string;
  /** Whether a client waits for the transcript, after which nothing of the recording is kept; false by default. */
  readonly isTransient?: boolean;
}

interface Creation {
  readonly place: CreatePlace;
  /** Runs further statements in the transaction that inserts the record. */
  readonly also?: (writer: Writer, recording: Recording) => void;
  /** Called in the tick of the insertion. */
  readonly onCreated?: () => void;
  /** Whether the create was counted before, and its limits were checked then; false by default. */
  readonly isCounted?: boolean;
}

/**
 * Accepts recordings for every surface: limits, disk space, checks of the file, and the record. The surfaces differ in how
 * a recording arrives and in their answers. A refused recording leaves nothing behind.
 */
export class RecordingIntake {
  readonly limits: CreateLimits;
  /** Disk space of the uploads in progress. */
  readonly space: UploadSpace;
  readonly #services: IntakeServices;
  readonly #examiner: RecordingExaminer;

  constructor(services: IntakeServices) {
    this.#services = services;
    this.limits = new CreateLimits(services);
    this.space = new UploadSpace(services.diskSpace);
    this.#examiner = new RecordingExaminer(services);
  }

  /** @throws {IntakeError} `closed` when the server accepts no work */
  requireOpen(): void {
    const reason = this.#services.refusal();
    if (reason !== null) throw new IntakeError({ kind: "closed", reason });
  }

  /** Checks that a recording can be processed. @throws {IntakeError} when its file can't */
  async examine(source: Source, { account }: Pick<Sender, "account">): Promise<void> {
    if (source.type === "file") await this.#examiner.examine(source.file, account.id);
  }

  /**
   * Creates the recording of a submission that was examined, and adds it to the queue. Its place is released in the same
   * tick in which the record is inserted.
   * @throws {IntakeError} when a limit was reached meanwhile, or what `requireAccess` of the sender throws
   */
  create(
    { account, workspaceId, requireAccess }: Sender,
    { source, pinnedLanguage, hints, isTranslated = false, speechModel, isTransient = false }: Submission,
    { place, also = () => {}, onCreated = () => {}, isCounted = false }: Creation,
  ): Promise<Recording> {
    const { library, usage, queue, now } = this.#services;
    return library.create({
      values: {
        accountId: account.id,
        workspaceId,
        pinnedLanguage,
        ...hints,
        isTranslated,
        speechModel,
        isTransient,
        ...sourceColumns(source),
      },
      audioPath: source.type === "file" ? source.file.path : null,
      check() {
        requireAccess();
        if (!isCounted) place.requireLimits();
      },
      also(writer, created) {
        if (!isCounted) usage.spendCreate(writer, account.id, now());
        also(writer, created);
      },
      onCreated(recording) {
        place.release();
        onCreated();
        queue.add(recording);
      },
    });
  }
}

function sourceColumns(source: Source): Pick<Recording, "sourceName" | "sourceUrl" | "sizeBytes"> {
  return source.type === "file"
    ? { sourceName: parse(source.file.name).name, sourceUrl: null, sizeBytes: source.file.sizeBytes }
    : { sourceName: null, sourceUrl: source.url, sizeBytes: null };
}
