import type { Doubt } from "./completeness.ts";
import { Delays } from "./delays.ts";
import type { Hindrance } from "./hindrances.ts";
import { type FileFacts, isSameFile } from "./open-directory.ts";

/** Number of files of a folder that are watched at once. The others follow when these are taken. */
const MAX_WATCHED = 500;

interface SeenFile {
  readonly facts: FileFacts;
  /** Time since which it has not changed, in milliseconds of a clock that never goes back. */
  readonly since: number;
  /** Why it seemed to be incomplete when it was examined; null if it was not examined, or did not. */
  readonly doubt: Doubt | null;
  /** Time before which it is not taken even if nobody changes it; null if it was not held. */
  readonly heldUntil: number | null;
}

/** A file that waits because it seems to be incomplete. */
export interface IncompleteFile {
  readonly name: string;
  readonly doubt: Doubt;
}

/** A file that may be taken. */
interface SettledFile {
  readonly facts: FileFacts;
  /** Whether it is taken whatever it looks like. */
  readonly isLast: boolean;
  /** Bytes that decoding it needs, as an earlier attempt found; 0 if none did. */
  readonly neededBytes: number;
}

/** How long a file must not change before it is taken. */
export interface Patience {
  readonly settleMilliseconds: number;
  /** For a file that seems to be incomplete. */
  readonly doubtMilliseconds: number;
}

/**
 * The files of a folder that have not been taken, from when to when they did not change. It is in memory: after a
 * restart every file must settle again.
 */
export class SeenFiles {
  readonly #now: () => number;
  /** In the order in which they were first seen. */
  readonly #files = new Map<string, SeenFile>();
  /** Names of files that met a hindrance of their own, which leave their places to others. */
  readonly #deferred: Delays;
  /** Files for which the server lacked disk space, as they looked then, and the bytes that decoding them needs. */
  readonly #needs = new Map<string, { readonly facts: FileFacts; readonly bytes: number }>();
  /** The names, and the missing files, of the last search for files that were renamed. */
  #searched = "";

  /** @param now milliseconds of a clock that never goes back */
  constructor(now: () => number) {
    this.#now = now;
    this.#deferred = new Delays(now);
  }

  /**
   * Returns the names to describe next, up to 500: those that are watched, new ones in their order, those that were
   * deferred and are due again, and those that are held. Names that are gone are forgotten.
   */
  choose(names: readonly string[]): string[] {
    const present = new Set(names);
    for (const name of this.#files.keys()) if (!present.has(name)) this.#files.delete(name);
    for (const name of this.#needs.keys()) if (!present.has(name)) this.#needs.delete(name);
    this.#deferred.retain(present);
    const isHeld = (name: string) => this.#isHeld(this.#files.get(name));
    const watched = [...this.#files.keys()].filter((name) => !this.#deferred.has(name));
    const first = watched.filter((name) => !isHeld(name));
    // Sorting many names takes a tenth of a second.
    if (first.length >= MAX_WATCHED) return first.slice(0, MAX_WATCHED);
    const added = names.filter((name) => !this.#files.has(name) && !this.#deferred.has(name)).sort();
    const due = this.#deferred.keys().filter((name) => !this.#deferred.isWaiting(name));
    return [...first, ...added, ...due, ...watched.filter(isHeld)].slice(0, MAX_WATCHED);
  }

  /** Records what a file looks like now. A change of its size or time starts its wait again. */
  see(facts: FileFacts): void {
    const seen = this.#files.get(facts.name);
    const isUnchanged = seen !== undefined && isSameFile(seen.facts, facts) && seen.facts.kind === facts.kind;
    if (isUnchanged) this.#files.set(facts.name, { ...seen, facts });
    else this.#files.set(facts.name, { facts, since: this.#now(), doubt: null, heldUntil: null });
  }

  /** Forgets a file that was taken or is gone. */
  forget(name: string): void {
    this.#files.delete(name);
    this.#deferred.delete(name);
    this.#needs.delete(name);
  }

  /** A hindrance that a single file met; null if none did. */
  get hindrance(): Hindrance | null {
    return this.#deferred.hindrance;
  }

  /** Puts a file that met a hindrance of its own behind all others. It must settle again. */
  defer(name: string, hindrance: Hindrance): void {
    this.#files.delete(name);
    this.#deferred.add(name, hindrance);
  }

  /** Defers a file for which the server lacks disk space. @param bytes what decoding it needs, as far as it is known */
  deferForSpace(facts: FileFacts, bytes: number): void {
    this.defer(facts.name, "server_full");
    this.#needs.set(facts.name, { facts, bytes });
  }

  /**
   * Returns whether to search all names for files that were renamed: once for each change of the names or of the files
   * that are missing.
   */
  isNewSearch(names: readonly string[], missing: readonly { readonly id: string }[]): boolean {
    const last = this.#searched;
    this.#searched =
      missing.length === 0 ? "" : Bun.hash(JSON.stringify([names, missing.map(({ id }) => id)])).toString();
    return this.#searched !== "" && this.#searched !== last;
  }

  /** Records that a file seems to be incomplete: it is examined again when it has changed, or after the long wait. */
  suspect(name: string, doubt: Doubt): void {
    const seen = this.#files.get(name);
    if (seen !== undefined) this.#files.set(name, { ...seen, doubt });
  }

  /** Records that a file can't be transcribed, but stays for a time: it is examined again afterwards. */
  hold(name: string, milliseconds: number): void {
    const seen = this.#files.get(name);
    if (seen === undefined) return;
    this.#files.set(name, { ...seen, doubt: "first_hour", heldUntil: this.#now() + milliseconds });
  }

  /** Returns the files that wait because they seem to be incomplete or are held, up to 500. */
  incomplete(patience: Patience): IncompleteFile[] {
    const waiting = [...this.#files].flatMap(([name, { doubt, since, ...seen }]) => {
      const isWaiting = this.#isHeld(seen) || !this.#isLast(since, patience);
      return doubt !== null && isWaiting ? [{ name, doubt }] : [];
    });
    return waiting.slice(0, MAX_WATCHED);
  }

  /** Returns the files that may be taken, in the order in which they were first seen. */
  settled(patience: Patience): SettledFile[] {
    return [...this.#files.values()].flatMap(({ facts, since, doubt, ...seen }) => {
      if (this.#isHeld(seen)) return [];
      const isLast = this.#isLast(since, patience);
      const mayBeTaken = doubt === null ? this.#now() - since >= patience.settleMilliseconds : isLast;
      const needs = this.#needs.get(facts.name);
      const neededBytes = needs !== undefined && isSameFile(needs.facts, facts) ? needs.bytes : 0;
      return mayBeTaken ? [{ facts, isLast, neededBytes }] : [];
    });
  }

  #isHeld(seen: Pick<SeenFile, "heldUntil"> | undefined): boolean {
    return seen?.heldUntil != null && this.#now() < seen.heldUntil;
  }

  /** Returns whether a file has not changed for so long that it is taken whatever it looks like. */
  #isLast(since: number, { settleMilliseconds, doubtMilliseconds }: Patience): boolean {
    return this.#now() - since >= Math.max(settleMilliseconds, doubtMilliseconds);
  }
}
