import { FRAME_SAMPLES } from "../../blocks/index.ts";
import { SAMPLE_RATE } from "../../timeline/index.ts";
import { LiveError, type LiveEvent, type TurnRules } from "../contract.ts";
import { frameOf, ONSET_SECONDS, PASSAGE_RULES, PassageFinder, sampleOf } from "../turns/index.ts";
import type { Passage, Turn } from "./turn.ts";

/** Minimum duration of sound that can be committed, as in OpenAI's API. */
const MIN_COMMIT_SAMPLES = SAMPLE_RATE / 10;
/** Maximum duration of the silence before a commit that belongs to a turn without speech. */
const MAX_SILENT_TURN_SAMPLES = 25 * SAMPLE_RATE;

/** A place in the sound where the client, or the end of the sound, ended a turn. Sound is detected up to it later. */
interface Boundary {
  readonly sample: number;
  /** The first frame after it. */
  readonly frame: number;
  /** The turn that was committed there; `dropped`: sound before it belongs to no turn; `open`: it ends the open turn. */
  readonly of: Turn | "dropped" | "open";
}

export interface TurnKeeperOptions {
  /** Null: only commits end turns. */
  readonly rules: TurnRules | null;
  /** First sample that belongs to no turn yet. */
  readonly firstSample: number;
  readonly newId: () => string;
  readonly emit: (event: LiveEvent) => void;
  /** Called with each new turn, in order. */
  readonly onTurn: (turn: Turn) => void;
  /** Called with each new passage, in order. */
  readonly onPassage: (passage: Passage) => void;
  /** Called when a passage or a turn has ended. */
  readonly onEnd: () => void;
}

/** Divides the sound of a session into turns, and these into passages with speech. */
export class TurnKeeper {
  readonly #options: TurnKeeperOptions;
  readonly #finder: PassageFinder;
  /** Rules of the open turn, and of the next one. */
  #rules: TurnRules | null;
  #nextRules: TurnRules | null;
  /** The passage that grows, null between passages. */
  #passage: Passage | null = null;
  /** The turn that is not committed; null between turns. */
  #open: Turn | null = null;
  /** Id of the turn that was committed last. */
  #previous: string | null = null;
  /** End of the sound that was committed or dropped. */
  #committedSample: number;
  /** Boundaries that the detection has not reached, in order. */
  readonly #ahead: Boundary[] = [];
  /** The next frame. */
  #frame: number;

  constructor(options: TurnKeeperOptions) {
    this.#options = options;
    this.#rules = options.rules;
    this.#nextRules = options.rules;
    this.#frame = Math.ceil(options.firstSample / FRAME_SAMPLES);
    this.#finder = new PassageFinder(options.rules ?? PASSAGE_RULES, this.#frame);
    this.#committedSample = options.firstSample;
  }

  /** The next frame to add. */
  get nextFrame(): number {
    return this.#frame;
  }

  /** The first frame of the next boundary, up to which frames are needed although no sound follows; null for none. */
  get boundaryFrame(): number | null {
    return this.#ahead[0]?.frame ?? null;
  }

  /** Whether a passage grows. */
  get isSpeaking(): boolean {
    return this.#passage !== null;
  }

  /** The sample before which no speech is left for a later turn. */
  get settledSample(): number {
    const { paddingSeconds } = this.#rules ?? PASSAGE_RULES;
    const detected = sampleOf(this.#frame);
    const earliest = Math.floor(detected - (paddingSeconds + ONSET_SECONDS) * SAMPLE_RATE);
    return Math.max(0, Math.min(detected, Math.max(this.#committedSample, earliest)));
  }

  /** Changes the rules from the next turn on. */
  setRules(rules: TurnRules | null): void {
    this.#nextRules = rules;
    if (this.#open === null) this.#useNextRules();
  }

  /** Adds the next frame: the probability of speech in it, and its level. */
  addFrame(probability: number, decibels: number): void {
    const frame = this.#frame++;
    const cutFrom = this.#passage === null ? 0 : Math.ceil(this.#passage.finalSample / FRAME_SAMPLES);
    const change = this.#finder.add(frame, { probability, decibels }, cutFrom);
    if (this.#passage !== null) this.#passage.speechEndSample = sampleOf(this.#finder.speechEnd);
    if (change?.type === "started") this.#start(sampleOf(change.frame));
    if (change?.type === "ended") this.#end(sampleOf(change.frame), change.isCut);
    this.#reachBoundaries();
  }

  /**
   * Ends the open turn, or one without speech so far.
   * @param sampleCount end of the sound
   * @throws {LiveError} `empty_turn`
   */
  commit(sampleCount: number): void {
    if (sampleCount - this.#committedSample < MIN_COMMIT_SAMPLES) throw new LiveError({ kind: "empty_turn" });
    const earliest = this.#endsBySilence ? sampleCount - MAX_SILENT_TURN_SAMPLES : 0;
    const turn = this.#open ?? this.#newTurn(Math.max(this.#committedSample, earliest));
    this.#commit(turn, sampleCount);
    this.#addBoundary(sampleCount, turn);
  }

  /** Drops the sound of the open turn. */
  clear(sampleCount: number): void {
    if (this.#open !== null) {
      this.#open.isDropped = true;
      this.#open.isSettled = true;
      this.#closeTurn();
    }
    this.#committedSample = sampleCount;
    this.#options.emit({ type: "cleared" });
    const last = this.#ahead.at(-1);
    if (last?.sample !== sampleCount || last.of !== "dropped") this.#addBoundary(sampleCount, "dropped");
    this.#options.onEnd();
  }

  /** Ends the open turn because no more sound arrives, at least for a while. Does nothing when there was no speech. */
  endSound(sampleCount: number): void {
    if (this.#ahead.at(-1)?.sample === sampleCount) return;
    if (this.#open !== null || frameOf(sampleCount) > this.#frame) this.#addBoundary(sampleCount, "open");
  }

  #addBoundary(sample: number, of: Boundary["of"]): void {
    this.#ahead.push({ sample, frame: frameOf(sample), of });
    this.#reachBoundaries();
  }

  #reachBoundaries(): void {
    for (let next = this.#ahead[0]; next !== undefined && next.frame <= this.#frame; next = this.#ahead[0]) {
      this.#ahead.shift();
      this.#finder.restart(this.#frame);
      if (this.#passage !== null) this.#passage.endSample = next.sample;
      this.#passage = null;
      if (next.of === "open") this.#endOpenTurn(next.sample);
      else if (next.of !== "dropped") next.of.isSettled = true;
      this.#options.onEnd();
    }
  }

  /** A passage starts. */
  #start(startSample: number): void {
    const turn = this.#turnAt(startSample);
    if (turn === null) return;
    const start = Math.max(startSample, turn.startSample);
    this.#passage = {
      turn,
      startSample: start,
      endSample: null,
      speechEndSample: sampleOf(this.#finder.speechEnd),
      finalSample: start,
    };
    this.#options.onPassage(this.#passage);
  }

  /** Returns the turn of speech that starts now; null if its sound was dropped. */
  #turnAt(startSample: number): Turn | null {
    const next = this.#ahead[0];
    if (next?.of === "dropped") return null;
    if (next !== undefined && next.of !== "open") return next.of;
    if (this.#open !== null) return this.#open;
    this.#open = this.#newTurn(this.#endsBySilence ? startSample : this.#committedSample);
    if (this.#endsBySilence) {
      this.#options.emit({ type: "speechStarted", turn: this.#open.id, seconds: startSample / SAMPLE_RATE });
    }
    return this.#open;
  }

  /** The passage ends by silence, or because it is long. */
  #end(endSample: number, isCut: boolean): void {
    if (this.#passage !== null) {
      this.#passage.endSample = endSample;
      this.#passage.speechEndSample = Math.min(this.#passage.speechEndSample, endSample);
    }
    const wasDropped = this.#passage === null || this.#passage.turn.isDropped;
    const isOfOpenTurn = this.#passage !== null && this.#passage.turn === this.#open;
    this.#passage = null;
    if (isOfOpenTurn && this.#endsBySilence) this.#endOpenTurn(endSample);
    if (isCut && !wasDropped) this.#start(endSample);
    this.#options.onEnd();
  }

  /** Commits the open turn, if there is one. */
  #endOpenTurn(endSample: number): void {
    const turn = this.#open;
    if (turn === null) return;
    turn.isSettled = true;
    if (this.#endsBySilence) {
      this.#options.emit({ type: "speechStopped", turn: turn.id, seconds: endSample / SAMPLE_RATE });
    }
    this.#commit(turn, endSample);
  }

  #commit(turn: Turn, endSample: number): void {
    turn.endSample = endSample;
    this.#closeTurn();
    this.#committedSample = endSample;
    this.#options.emit({ type: "committed", turn: turn.id, previous: this.#previous });
    this.#previous = turn.id;
  }

  #newTurn(startSample: number): Turn {
    const turn: Turn = {
      id: this.#options.newId(),
      startSample,
      endSample: null,
      isSettled: false,
      isDropped: false,
      hasFailed: false,
      text: "",
      language: null,
    };
    this.#options.onTurn(turn);
    return turn;
  }

  #closeTurn(): void {
    this.#open = null;
    this.#useNextRules();
  }

  #useNextRules(): void {
    this.#rules = this.#nextRules;
    this.#finder.setRules(this.#rules ?? PASSAGE_RULES);
  }

  get #endsBySilence(): boolean {
    return this.#rules !== null;
  }
}
