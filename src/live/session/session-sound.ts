import type { LiveFormat } from "../contract.ts";
import { durationOf, FrameLevels, type SessionFile, SoundConverter } from "../sound/index.ts";
import { framesIn } from "../turns/index.ts";

/** Duration of the sound whose levels are kept: more than may wait for detection, and than a passage lasts. */
const LEVELS_SECONDS = 660;

/** The sound of a session: converts what arrives, and stores it at once. */
export class SessionSound {
  readonly levels: FrameLevels;
  #format: LiveFormat;
  readonly #file: SessionFile;
  #converter: SoundConverter;

  constructor(format: LiveFormat, file: SessionFile) {
    this.#format = format;
    this.#file = file;
    this.#converter = new SoundConverter(format);
    this.levels = new FrameLevels(framesIn(LEVELS_SECONDS), file.sampleCount);
  }

  /** Number of stored samples. */
  get sampleCount(): number {
    return this.#file.sampleCount;
  }

  /** Changes the format. @returns false after the first sound, which cannot be taken for another format */
  setFormat(format: LiveFormat): boolean {
    if (this.sampleCount > 0) return false;
    this.#format = format;
    this.#converter = new SoundConverter(format);
    return true;
  }

  /** Returns the duration of sound in the session's format. */
  secondsOf(bytes: Uint8Array): number {
    return durationOf(this.#format, bytes.length);
  }

  /** Stores sound. @throws {MachineError} when the disk is full; the sound before stays stored */
  write(bytes: Uint8Array): void {
    this.#converter.convert(bytes, (samples) => this.#append(samples));
  }

  /**
   * Stores what the converter holds back, because no sound follows for now. The next sound starts anew, so a client that
   * was interrupted continues with a whole sample. @throws {MachineError} when the disk is full
   */
  flush(): void {
    const rest = this.#converter.end();
    this.#converter = new SoundConverter(this.#format);
    this.#append(rest);
  }

  /** Makes the sound durable, and closes its file. */
  close(): Promise<void> {
    return this.#file.close();
  }

  #append(samples: Int16Array): void {
    this.#file.append(samples);
    this.levels.add(samples);
  }
}
