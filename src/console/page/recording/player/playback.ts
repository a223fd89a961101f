import { useEffect, useState } from "preact/hooks";

/** Playback speeds to choose from; the pitch does not change. */
export const RATES: readonly number[] = [0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 3];

/** Seconds per skip. The page's texts and docs/console.md state this number. */
const SKIP_SECONDS = 5;

/** Plays the recording, and reports the time often enough to follow single words. */
export class Playback {
  readonly audio = new Audio();
  readonly #listeners = new Set<(seconds: number) => void>();
  #frame = 0;
  /** Time at which the playback pauses; null: it goes on. */
  #pauseAt: number | null = null;

  constructor() {
    this.audio.preload = "metadata";
    for (const name of ["play", "seeking", "seeked", "timeupdate"]) this.audio.addEventListener(name, this.#notify);
  }

  get seconds(): number {
    return this.audio.currentTime;
  }

  /**
   * Calls `listener` whenever the time changes, at most once per frame.
   * @returns a function that removes the listener
   */
  onTime(listener: (seconds: number) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  load(address: string): void {
    this.audio.src = address;
  }

  /** Reloads the audio after an error and restores the position. */
  reload(): void {
    const { currentTime, playbackRate } = this.audio;
    this.audio.load();
    Object.assign(this.audio, { currentTime, playbackRate });
  }

  seek(seconds: number): void {
    this.#pauseAt = null;
    const end = Number.isFinite(this.audio.duration) ? this.audio.duration : Number.POSITIVE_INFINITY;
    this.audio.currentTime = Math.max(0, Math.min(seconds, end));
    this.#notify();
  }

  /** Skips a few seconds forward or back. */
  skip(step: 1 | -1): void {
    this.seek(this.seconds + step * SKIP_SECONDS);
  }

  /** Plays, from a time if one is given. A browser may refuse until the user has clicked or pressed a key. */
  play(fromSeconds: number | null = null): void {
    if (fromSeconds !== null) this.seek(fromSeconds);
    this.audio.play().catch(() => {});
  }

  /** Plays a span once, and pauses at its end. */
  playSpan(fromSeconds: number, toSeconds: number): void {
    this.play(fromSeconds);
    this.#pauseAt = toSeconds;
  }

  toggle(): void {
    this.#pauseAt = null;
    if (this.audio.paused) this.play();
    else this.audio.pause();
  }

  /** Changes to the next higher or lower speed. */
  changeRate(step: 1 | -1): void {
    const now = RATES.indexOf(this.audio.playbackRate);
    this.audio.playbackRate = RATES[Math.max(0, Math.min(RATES.length - 1, now + step))] ?? 1;
  }

  end(): void {
    this.audio.pause();
    this.audio.removeAttribute("src");
    this.audio.load();
    cancelAnimationFrame(this.#frame);
    this.#listeners.clear();
  }

  #pause(): void {
    this.#pauseAt = null;
    this.audio.pause();
  }

  readonly #notify = () => {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => {
      if (this.#pauseAt !== null && this.seconds >= this.#pauseAt) this.#pause();
      for (const listener of this.#listeners) listener(this.seconds);
      if (!this.audio.paused) this.#notify();
    });
  };
}

/** Returns a playback that ends when its screen is closed. */
export function usePlayback(): Playback {
  const [playback] = useState(() => new Playback());
  useEffect(() => () => playback.end(), [playback]);
  return playback;
}

/** Returns the state of a playback, except its time. */
export function usePlaybackState({ audio }: Playback) {
  const read = () => ({ isPlaying: !audio.paused, rate: audio.playbackRate, isBroken: audio.error !== null });
  const [state, setState] = useState(read);
  useEffect(() => {
    const aborted = new AbortController();
    for (const name of ["play", "pause", "ended", "ratechange", "error", "emptied"]) {
      audio.addEventListener(name, () => setState(read()), { signal: aborted.signal });
    }
    return () => aborted.abort();
  }, [audio]);
  return state;
}

/** Returns the time in whole seconds, for components that need no more precision. */
export function useWholeSeconds(playback: Playback): number {
  const [seconds, setSeconds] = useState(() => Math.floor(playback.seconds));
  useEffect(() => playback.onTime((now) => setSeconds(Math.floor(now))), [playback]);
  return seconds;
}
