import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { TestClient } from "../../harness/client.ts";
import { waveHeader } from "../../harness/media.ts";
import { ArrivalWatch } from "./arrival-watch.ts";
import type { StandbyMachines } from "./standby-machines.ts";

/** A value that was sent. */
interface Sent {
  readonly value: string;
  /** Milliseconds since the epoch; null without an answer, so that it may have been stored or not. */
  answeredAt: number | null;
}

/** A recording as its clients know it. */
interface Known {
  readonly id: string;
  /** When its creation was answered; infinite if it was made without a request. */
  createdAt: number;
  /** Tags that were sent for it, in order; the first one is what it had at the beginning. */
  readonly tags: Sent[];
  deletion: Sent | null;
  isBusy: boolean;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

type Kind = "create" | "correction" | "deletion";

/** The answered changes after a takeover. */
export interface Losses {
  /** Changes answered before a time that are missing, and deleted recordings that are there again. */
  readonly faults: readonly string[];
  /** Changes answered after that time that are missing. */
  readonly recent: number;
}

const WRITERS = 2;
/** Maximum pause of a writer between two changes. */
const PAUSE_MILLISECONDS = 250;
/** Completed recordings that can be corrected or deleted. */
const STOCK = 12;
const CHECKS_AT_ONCE = 8;
const SOUND = { channels: 1, rateHz: 16_000, claimedBytes: 32_000 };

/**
 * Clients that create, correct and delete small recordings, and know what was answered and when. After a takeover they
 * compare that with the new server.
 */
export class ChangeStream implements AsyncDisposable {
  /** Milliseconds from a request to its answer while nothing is disturbed, without and with `standby.wait`. */
  readonly answerMilliseconds = { alone: [] as number[], waiting: [] as number[] };
  readonly counts = { answered: 0, refused: 0, unanswered: 0 };
  /** Answers that no disturbance explains. */
  readonly unexpected: string[] = [];
  /** Whether times are measured, because nothing is disturbed. */
  isCalm = false;
  readonly arrivals: ArrivalWatch;
  readonly #machines: StandbyMachines;
  readonly #random: () => number;
  readonly #account: { readonly accountId: string; readonly key: string };
  readonly #known = new Map<string, Known>();
  readonly #path: string;
  readonly #writers: readonly Promise<void>[];
  readonly #stopping = new AbortController();
  #isPaused = false;
  #inProgress = 0;
  #number = 0;

  constructor(machines: StandbyMachines, random: () => number) {
    this.#machines = machines;
    this.#random = random;
    this.#account = machines.client("changes");
    this.arrivals = new ArrivalWatch(() => machines.pair.standbyDirectory);
    this.#path = join(machines.pair.path, "silence.wav");
    writeFileSync(this.#path, Buffer.concat([waveHeader(SOUND), Buffer.alloc(SOUND.claimedBytes)]));
    this.#writers = Array.from({ length: WRITERS }, () => this.#write());
  }

  /** Begins no further change until `paused` has run. Otherwise a change could meet a recording that was lost. */
  hold(): void {
    this.#isPaused = true;
  }

  /** Runs work while no change is being sent. A server that is stopped answers its last one when it continues. */
  async paused<T>(work: () => Promise<T>): Promise<T> {
    this.#isPaused = true;
    while (this.#inProgress > 0) await Bun.sleep(10);
    try {
      return await work();
    } finally {
      this.#isPaused = false;
    }
  }

  /**
   * Compares the server with the answers. Call it while the stream is paused.
   * @param before changes answered until then must be there, in milliseconds since the epoch
   */
  async losses(before: number): Promise<Losses> {
    const faults: string[] = [];
    let recent = 0;
    const missing = (what: string, { id }: Known, answeredAt: number) => {
      // Nobody was told of it.
      if (answeredAt === Number.POSITIVE_INFINITY) return;
      if (answeredAt > before) recent += 1;
      else faults.push(`${what} of ${id}, answered ${((before - answeredAt) / 1000).toFixed(1)} s before`);
    };
    const waiting = [...this.#known.values()];
    const check = async () => {
      for (let known = waiting.pop(); known !== undefined; known = waiting.pop()) {
        const { id, createdAt, deletion } = known;
        const tag = await this.#tagOf(id);
        const deletedAt = deletion?.answeredAt ?? null;
        if (tag === null) {
          const answered = known.tags.slice(1).flatMap(({ answeredAt }) => answeredAt ?? []);
          if (deletion === null) missing("creation", known, Math.min(createdAt, ...answered));
          this.#known.delete(id);
          continue;
        }
        if (deletedAt !== null) missing("deletion", known, deletedAt);
        const newest = known.tags.findLastIndex(({ answeredAt }) => answeredAt !== null);
        const found = known.tags.findLastIndex(({ value }) => value === tag);
        const lost = known.tags.find(({ answeredAt }, index) => index > found && answeredAt !== null);
        if (found < newest && lost?.answeredAt != null) missing("correction", known, lost.answeredAt);
        known.deletion = null;
        known.createdAt = 0;
        known.tags.splice(0, known.tags.length, { value: tag, answeredAt: 0 });
      }
    };
    await Promise.all(Array.from({ length: CHECKS_AT_ONCE }, check));
    return { faults, recent };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#writers);
    this.arrivals[Symbol.dispose]();
  }

  async #write(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await Bun.sleep(this.#random() * PAUSE_MILLISECONDS);
      if (this.#isPaused || signal.aborted) continue;
      this.#inProgress += 1;
      try {
        await this.#change();
      } finally {
        this.#inProgress -= 1;
      }
    }
  }

  async #change(): Promise<void> {
    const free = [...this.#known.values()].filter(({ isBusy, deletion }) => !isBusy && deletion === null);
    const known = free[Math.floor(this.#random() * free.length)];
    const choice = this.#random();
    if (known === undefined || free.length < STOCK) return this.#stockUp();
    if (choice < 0.25) return await this.#create();
    known.isBusy = true;
    await (choice < 0.8 ? this.#correct(known) : this.#delete(known));
    known.isBusy = false;
  }

  /** Adds a completed recording. It counts from its first answered correction on, which the standby has after it. */
  #stockUp(): void {
    const id = this.#machines.pair.completed(this.#account.accountId);
    this.#add(id, Number.POSITIVE_INFINITY);
  }

  #add(id: string, createdAt: number): void {
    this.#known.set(id, { id, createdAt, tags: [{ value: "", answeredAt: 0 }], deletion: null, isBusy: false });
  }

  async #create(): Promise<void> {
    const body = new FormData();
    body.set("file", Bun.file(this.#path), "silence.wav");
    const answer = await this.#ask("create", "/transcriptions", { method: "POST", body });
    if (answer === null || answer.status !== 201) return;
    const { id } = JSON.parse(answer.text) as { readonly id: string };
    this.#add(id, answer.at);
    this.#expect(id);
  }

  async #correct(known: Known): Promise<void> {
    this.#number += 1;
    const sent: Sent = { value: `tag-${this.#number}-${Bun.randomUUIDv7().slice(-12)}`, answeredAt: null };
    known.tags.push(sent);
    const body = JSON.stringify({ tags: [sent.value] });
    const headers = { "Content-Type": "application/json" };
    const path = `/transcriptions/${known.id}/tags`;
    const answer = await this.#ask("correction", path, { method: "PUT", headers, body });
    if (answer === null || answer.status >= 300) return;
    sent.answeredAt = answer.at;
    this.#expect(sent.value);
  }

  async #delete(known: Known): Promise<void> {
    known.deletion = { value: "", answeredAt: null };
    const answer = await this.#ask("deletion", `/transcriptions/${known.id}`, { method: "DELETE" });
    // It is still being processed.
    if (answer?.status === 409) known.deletion = null;
    else if (answer?.status === 204) known.deletion.answeredAt = answer.at;
  }

  /** Notes when a text that was answered arrives on the standby. */
  #expect(text: string): void {
    if (this.isCalm && !this.#machines.waits) this.arrivals.expect(text);
  }

  /** Sends a change. @returns its answer; null if there is none, so that the change may have been made or not */
  async #ask(kind: Kind, path: string, init: RequestInit): Promise<Answer | null> {
    const [begun, wasCalm] = [performance.now(), this.isCalm];
    try {
      const client = new TestClient(this.#machines.baseUrl, this.#account.key);
      const response = await client.fetch(path, { ...init, signal: this.#stopping.signal });
      const answer = { status: response.status, text: await response.text(), at: Date.now() };
      if (response.ok) this.counts.answered += 1;
      else {
        this.counts.refused += 1;
        if (![409, 503].includes(answer.status)) this.unexpected.push(`${answer.status} for a ${kind}`);
      }
      if (response.ok && kind === "correction" && wasCalm && this.isCalm) {
        const { alone, waiting } = this.answerMilliseconds;
        (this.#machines.waits ? waiting : alone).push(performance.now() - begun);
      }
      return answer;
    } catch {
      this.counts.unanswered += 1;
      return null;
    }
  }

  /** Returns the tag of a recording, which may be empty; null if there is no such recording. */
  async #tagOf(id: string): Promise<string | null> {
    for (;;) {
      const client = new TestClient(this.#machines.baseUrl, this.#account.key);
      const response = await client.fetch(`/transcriptions/${id}/tags`).catch(() => null);
      if (response?.status === 404) return null;
      if (response?.ok) return ((await response.json()) as { readonly tags: readonly string[] }).tags[0] ?? "";
      await Bun.sleep(100);
    }
  }
}
