import { useEffect, useState } from "preact/hooks";

/** Speeds to choose from; voices keep their pitch. */
export const rates: readonly number[] = [0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 3];

/** The page's texts and docs/console.md say how many. */
const skippedSeconds = 5;

/** What plays the recording, and tells its time often enough for words to be followed. */
export class Playback {
  readonly audio = new Audio();
  readonly #listeners = new Set<(seconds: number) => void>();
  #frame = 0;

  constructor() {
    this.audio.preload = "metadata";
    for (const name of ["play", "seeking", "seeked", "timeupdate"]) this.audio.addEventListener(name, this.#tell);
  }

  get seconds(): number {
    return this.audio.currentTime;
  }

  /** Tells the time whenever it changes, at most once a frame. @returns what ends it */
  onTime(listener: (seconds: number) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  load(address: string): void {
    this.audio.src = address;
  }

  /** Loads it anew after it could not be had, and goes to where it was. */
  reload(): void {
    const { currentTime, playbackRate } = this.audio;
    this.audio.load();
    Object.assign(this.audio, { currentTime, playbackRate });
  }

  seek(seconds: number): void {
    const end = Number.isFinite(this.audio.duration) ? this.audio.duration : Number.POSITIVE_INFINITY;
    this.audio.currentTime = Math.max(0, Math.min(seconds, end));
    this.#tell();
  }

  /** A few seconds forward, or back. */
  skip(step: 1 | -1): void {
    this.seek(this.seconds + step * skippedSeconds);
  }

  /** From a time, where one is given. A browser may refuse until somebody has clicked or typed. */
  play(fromSeconds: number | null = null): void {
    if (fromSeconds !== null) this.seek(fromSeconds);
    this.audio.play().catch(() => {});
  }

  toggle(): void {
    if (this.audio.paused) this.play();
    else this.audio.pause();
  }

  /** Takes the next higher or lower speed. */
  changeRate(step: 1 | -1): void {
    const now = rates.indexOf(this.audio.playbackRate);
    this.audio.playbackRate = rates[Math.max(0, Math.min(rates.length - 1, now + step))] ?? 1;
  }

  end(): void {
    this.audio.pause();
    this.audio.removeAttribute("src");
    this.audio.load();
    cancelAnimationFrame(this.#frame);
    this.#listeners.clear();
  }

  readonly #tell = () => {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => {
      for (const listener of this.#listeners) listener(this.seconds);
      if (!this.audio.paused) this.#tell();
    });
  };
}

/** A playback for as long as a screen is shown. */
export function usePlayback(): Playback {
  const [playback] = useState(() => new Playback());
  useEffect(() => () => playback.end(), [playback]);
  return playback;
}

/** How a playback stands, but for its time. */
export function usePlaybackState({ audio }: Playback) {
  const read = () => ({ isPlaying: !audio.paused, rate: audio.playbackRate, isBroken: audio.error !== null });
  const [state, setState] = useState(read);
  useEffect(() => {
    const ended = new AbortController();
    for (const name of ["play", "pause", "ended", "ratechange", "error", "emptied"]) {
      audio.addEventListener(name, () => setState(read()), { signal: ended.signal });
    }
    return () => ended.abort();
  }, [audio]);
  return state;
}

/** The time in whole seconds, for what shows no more of it. */
export function useWholeSeconds(playback: Playback): number {
  const [seconds, setSeconds] = useState(() => Math.floor(playback.seconds));
  useEffect(() => playback.onTime((now) => setSeconds(Math.floor(now))), [playback]);
  return seconds;
}
