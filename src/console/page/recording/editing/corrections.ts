import { useEffect, useState } from "preact/hooks";
import type { Changes, Corrected, Correction } from "../../../contract/index.ts";
import { call, messageOf, RequestError } from "../../server.ts";
import { useViewer } from "../../session.tsx";
import { poll } from "../../use-data.ts";
import type { TranscriptData } from "../transcript/transcript-data.ts";
import { CorrectionSender } from "./correction-sender.ts";
import { type CorrectedRecording, finished, type Typed, takeTexts, unfinished } from "./unfinished.ts";

/** Time without a keystroke before a text is saved. */
const TYPING_MILLISECONDS = 800;
/** Time between two questions for changes by others. */
const POLL_MILLISECONDS = 5_000;

/** A replacement of a text in the whole transcript. */
type Replacement = Omit<Extract<Correction, { action: "replace" }>, "after">;
/** An earlier state of the whole transcript, to be restored. */
type Restoration = Extract<Correction, { action: "restore" }>;

/** A text that was not saved. Nothing is saved in its segment until the user has chosen a text. */
export interface Conflict {
  readonly segment: number;
  /** Position of the segment when the text was refused; -1: it was gone. */
  readonly index: number;
  readonly text: string;
  /** Why the server refused the text; null if somebody has changed or removed the segment. */
  readonly problem: string | null;
}

/** Returns whether a text deletes its segment. */
export function isEmpty(text: string): boolean {
  return text.trim() === "";
}

/** A step on single segments other than typing. */
type SegmentStep = "split" | "merge" | "assign";

/** `unreachable`: the corrections stay in the page, which sends them again. */
type SavingState = "saved" | "saving" | "unreachable";

/**
 * The corrections that a user makes in one transcript. They are saved one after the other, in the order in which they
 * were made, and each is repeated until the server has answered. They outlive the screen, and the session: when the same
 * user has signed in again, they continue.
 */
export class Corrections {
  /** The user who makes them. */
  readonly owner: string;
  readonly recording: CorrectedRecording;
  readonly #sender: CorrectionSender;
  readonly #unsaved = new Map<number, Typed>();
  #data: TranscriptData | null = null;
  /** The latest revision that was shown. */
  #seen = 0;
  /** The revision of the last correction of this page. */
  #own = 0;
  /** Positions of the segments with an unsaved text, when the transcript was left. */
  #left: ReadonlyMap<number, number> = new Map();
  #typing: { readonly segment: number; readonly timer: ReturnType<typeof setTimeout> | undefined } | null = null;
  /** Resolves when all corrections so far are answered. */
  #answered: Promise<unknown> = Promise.resolve();
  /** Whether the last typed text was saved. What follows it may rely on it. */
  #textSaved: Promise<boolean> = Promise.resolve(true);
  #pending = 0;
  /** Steps that are not answered yet, by the segments on which they work. */
  readonly #steps = new Map<number, SegmentStep>();
  #problem: { readonly message: string } | null = null;
  #conflicts: readonly Conflict[] = [];
  #authors: readonly string[] = [];
  /** Revisions that can be taken back, and made again; several in one entry if one action took several requests. */
  readonly #done: (readonly number[])[] = [];
  readonly #undone: (readonly number[])[] = [];
  /** Called after every change of the state. */
  onChange: () => void = () => {};

  constructor(recording: CorrectedRecording, owner: string) {
    this.recording = recording;
    this.#sender = new CorrectionSender(recording.id, () => this.onChange());
    this.owner = owner;
  }

  get state(): SavingState {
    if (this.#pending === 0 && this.#typing === null) return "saved";
    return this.#sender.isUnreachable ? "unreachable" : "saving";
  }

  /** Message of the last refused correction; null if there is none. */
  get problem(): string | null {
    return this.#problem?.message ?? null;
  }

  get unsaved(): ReadonlyMap<number, Typed> {
    return this.#unsaved;
  }

  get conflicts(): readonly Conflict[] {
    return this.#conflicts;
  }

  /** The people whose changes have arrived last; empty until then. */
  get authors(): readonly string[] {
    return this.#authors;
  }

  get canUndo(): boolean {
    return this.#done.length > 0 || this.#unsaved.size > 0;
  }

  get canRedo(): boolean {
    return this.#undone.length > 0;
  }

  /** Shows the results in a transcript from now on, and asks for changes by others. Returns a function that ends this. */
  attach(data: TranscriptData): () => void {
    this.#data = data;
    data.onStale = () => void this.follow();
    const endPolling = poll(POLL_MILLISECONDS, () => void this.follow());
    return () => {
      endPolling();
      void this.flush();
      this.#seen = Math.max(this.#seen, data.revision);
      this.#left = new Map([...this.#unsaved.keys()].map((segment) => [segment, data.indexOf(segment)]));
      this.#data = null;
    };
  }

  /** Continues after the user has signed in again. */
  resume(): void {
    this.#sender.resume();
  }

  /** Returns the text of a segment that is not saved yet; null if there is none. */
  unsavedText(segment: number): string | null {
    return this.#unsaved.get(segment)?.text ?? null;
  }

  /** Returns whether the user has to choose a text for a segment first. */
  hasConflict(segment: number): boolean {
    return this.#conflicts.some((conflict) => conflict.segment === segment);
  }

  /**
   * Sets the text of a segment, which is saved after a pause. An empty text, which deletes the segment, waits for `flush`,
   * so that no segment is deleted while the user types in it.
   */
  type(segment: number, text: string): void {
    if (this.hasConflict(segment)) return;
    if (this.#typing !== null && this.#typing.segment !== segment) void this.flush();
    clearTimeout(this.#typing?.timer);
    this.#unsaved.set(segment, { text, seen: this.#unsaved.get(segment)?.seen ?? this.#revision() });
    const timer = isEmpty(text) ? undefined : setTimeout(() => void this.flush(), TYPING_MILLISECONDS);
    this.#typing = { segment, timer };
    this.onChange();
  }

  /** Saves texts that were typed before the page was left for the sign-in provider. */
  takeUp(texts: readonly (readonly [segment: number, typed: Typed])[]): void {
    for (const [segment, typed] of texts) {
      this.#unsaved.set(segment, typed);
      void this.#enqueue(() => this.#saveText(segment));
    }
  }

  /** Saves the typed text now. Returns whether it was saved, with all texts before it. */
  flush(): Promise<boolean> {
    if (this.#typing === null) return this.#textSaved;
    const { segment, timer } = this.#typing;
    clearTimeout(timer);
    this.#typing = null;
    const saved = this.#enqueue(() => this.#saveText(segment));
    this.#textSaved = saved;
    // Once the user knows that a text was refused, further actions do not depend on it.
    void saved.finally(() => {
      if (this.#textSaved === saved) this.#textSaved = Promise.resolve(true);
    });
    return saved;
  }

  /** Returns the step on a segment that waits for the server; null if there is none. */
  waitingStep(segment: number): SegmentStep | null {
    return this.#steps.get(segment) ?? null;
  }

  /**
   * Makes a correction. Returns null if it was refused, or the text that was typed before it, or if another step on the
   * same segment waits: the user does not see its result yet.
   */
  async make(correction: Correction): Promise<Corrected | null> {
    const [step, segments] = stepOf(correction);
    if (segments.some((segment) => this.#steps.has(segment))) return null;
    if (step !== null) for (const segment of segments) this.#steps.set(segment, step);
    // Changes by others that arrive before it is sent count as not seen.
    const seen = this.#revision();
    try {
      return await this.#afterText(null, () => this.#make(correction, Math.max(seen, this.#own)));
    } finally {
      for (const segment of segments) this.#steps.delete(segment);
      this.onChange();
    }
  }

  /** Makes a correction that may take several requests. Returns false if one was refused. */
  makeAll(correction: Replacement | Restoration): Promise<boolean> {
    return this.#afterText(false, async () => {
      const revisions: number[] = [];
      let next: Corrected["next"] = null;
      let isComplete = false;
      while (!isComplete) {
        const part: Correction = correction.action === "replace" ? { ...correction, after: next } : correction;
        const corrected = await this.#send(part, this.#revision());
        if (corrected === null) break;
        if (corrected.number !== null) revisions.push(corrected.number);
        next = corrected.next;
        isComplete = next === null;
      }
      if (revisions.length > 0) this.#done.push(revisions);
      this.#undone.length = 0;
      return isComplete;
    });
  }

  /** Takes back the last correction of this page. Returns the index of a segment that has changed; null for none. */
  undo(): Promise<number | null> {
    return this.#afterText(null, () => this.#revert(this.#done, this.#undone));
  }

  /** Makes the correction again that was taken back last. */
  redo(): Promise<number | null> {
    return this.#afterText(null, () => this.#revert(this.#undone, this.#done));
  }

  /** Asks for changes by others, and shows them. */
  async follow(): Promise<void> {
    if (this.#pending === 0) await this.#follow();
  }

  /** Forgets a text that was not saved, or the message of a refused correction. */
  dismiss(conflict: Conflict | null): void {
    if (conflict === null) this.#problem = null;
    else this.#conflicts = this.#conflicts.filter((each) => each !== conflict);
    this.onChange();
  }

  /** Runs an action of the user after the typed text was saved; not at all if the text was refused. */
  #afterText<T>(refused: T, action: () => Promise<T>): Promise<T> {
    const saved = this.flush();
    return this.#enqueue(async () => ((await saved) ? await action() : refused));
  }

  async #enqueue<T>(work: () => Promise<T>): Promise<T> {
    this.#pending += 1;
    const known = this.#problem;
    this.onChange();
    const done = this.#answered.then(work);
    this.#answered = done.catch(() => {});
    try {
      return await done;
    } finally {
      this.#pending -= 1;
      // The user has gone on after this refusal.
      if (this.#problem === known) this.#problem = null;
      this.onChange();
    }
  }

  async #saveText(segment: number): Promise<boolean> {
    const typed = this.#unsaved.get(segment);
    if (typed === undefined) return true;
    const corrected = await this.#make({ action: "text", segment, text: typed.text }, typed.seen);
    const now = this.#unsaved.get(segment);
    if (corrected === null) return false;
    if (now === undefined || now.text === typed.text) this.#unsaved.delete(segment);
    // The user has gone on typing meanwhile, in the text that is saved now.
    else this.#unsaved.set(segment, { text: now.text, seen: corrected.number ?? typed.seen });
    return true;
  }

  /** Makes a correction that can be taken back. */
  async #make(correction: Correction, seen: number): Promise<Corrected | null> {
    const corrected = await this.#send(correction, seen);
    if (corrected?.number == null) return corrected;
    // Typing in one segment continues the revision before.
    if (corrected.replaces !== null && this.#done.at(-1)?.[0] === corrected.replaces) this.#done.pop();
    this.#done.push([corrected.number]);
    this.#undone.length = 0;
    return corrected;
  }

  async #revert(from: (readonly number[])[], to: (readonly number[])[]): Promise<number | null> {
    const made: number[] = [];
    let place: number | null = null;
    for (const revision of from.pop()?.toReversed() ?? []) {
      const corrected = await this.#send({ action: "revert", revision }, this.#revision());
      if (corrected?.number == null) continue;
      made.push(corrected.number);
      place = corrected.splices?.[0]?.index ?? place;
    }
    if (made.length > 0) to.push(made);
    return place;
  }

  /** The latest revision that the user sees. */
  #revision(): number {
    return Math.max(this.#seen, this.#data?.revision ?? 0);
  }

  /**
   * Sends a correction until the server has answered. Returns null if it was refused.
   * @param seen the latest revision that the user has seen of what is corrected
   */
  async #send(correction: Correction, seen: number): Promise<Corrected | null> {
    try {
      const { corrected, shown } = await this.#sender.send(correction, seen, () => this.#revision());
      this.#seen = Math.max(this.#seen, corrected.revision);
      this.#own = corrected.number ?? this.#own;
      await this.#show(corrected, shown);
      return corrected;
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      await this.#refuse(correction, error);
      return null;
    }
  }

  async #refuse(correction: Correction, error: RequestError): Promise<void> {
    if (correction.action === "text") {
      const { segment } = correction;
      // The characters that were typed since belong to the same text.
      const text = this.#unsaved.get(segment)?.text ?? correction.text;
      this.#unsaved.delete(segment);
      if (this.#typing?.segment === segment) {
        clearTimeout(this.#typing.timer);
        this.#typing = null;
      }
      const problem = error.code === "changed_meanwhile" ? null : messageOf(error);
      const index = this.#data?.indexOf(segment) ?? this.#left.get(segment) ?? -1;
      const others = this.#conflicts.filter((each) => each.segment !== segment);
      this.#conflicts = [...others, { segment, index, text, problem }];
    } else this.#problem = { message: messageOf(error) };
    await this.#follow();
  }

  async #follow(): Promise<void> {
    const data = this.#data;
    if (data === null || data.outline === null) return;
    const { revision: seen } = data;
    const query = { seen, editor: this.#sender.editor };
    // A question that fails is asked again later. A broken connection shows when something is saved.
    const changes = await call("changes", { id: this.recording.id, query }).catch((error: unknown) => {
      if (error instanceof RequestError && error.status === 404) this.#showProblem(messageOf(error));
      return null;
    });
    if (changes !== null) await this.#show(changes, seen);
  }

  #showProblem(message: string): void {
    if (this.#problem?.message === message) return;
    this.#problem = { message };
    this.onChange();
  }

  /** Shows changes after the revision `seen`. */
  async #show({ revision, splices, authors }: Changes, seen: number): Promise<void> {
    if (authors.length > 0) this.#authors = authors;
    const data = this.#data;
    if (data === null || data.outline === null) return;
    // The server has an older transcript: its data was restored from a backup.
    const isOlder = revision < seen && data.revision === seen;
    if (revision <= data.revision && !isOlder) return;
    // Another response has brought some of these changes meanwhile.
    if (data.revision !== seen) return this.#follow();
    if (isOlder) this.#seen = revision;
    if (splices !== null && !isOlder) data.apply(splices, revision);
    else {
      await data.reload().catch((error: unknown) => {
        this.#problem = { message: messageOf(error) };
      });
    }
    this.onChange();
  }
}

type SegmentSteps = readonly [step: SegmentStep, segments: readonly number[]] | readonly [step: null, segments: []];

/** Returns a step on single segments, and these segments; none for typing and for corrections of the whole transcript. */
function stepOf(correction: Correction): SegmentSteps {
  switch (correction.action) {
    case "split":
      return ["split", [correction.segment]];
    case "merge":
      return ["merge", [correction.segment, correction.next]];
    case "assign":
      return ["assign", correction.segments];
    default:
      return [null, []];
  }
}

/** Provides the corrections of a transcript, and renders again after each change of their state. */
export function useCorrections(recording: CorrectedRecording, data: TranscriptData): Corrections {
  const { owner } = useViewer();
  const key = `${owner} ${recording.id}`;
  const [corrections] = useState(() => {
    const left = unfinished.get(key);
    return left instanceof Corrections ? left : new Corrections(recording, owner);
  });
  const [, setChanges] = useState(0);
  useEffect(() => {
    unfinished.set(key, corrections);
    corrections.onChange = () => setChanges((before) => before + 1);
    const detach = corrections.attach(data);
    corrections.takeUp(takeTexts(key));
    return () => {
      detach();
      corrections.onChange = () => finished(key, corrections);
      corrections.onChange();
    };
  }, [key, corrections, data]);
  return corrections;
}
