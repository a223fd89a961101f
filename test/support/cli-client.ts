import type { Clock } from "../../sdk/typescript/src/index.ts";
import { ApiClient } from "../../src/cli/client/api-client.ts";

/** A clock on which sleeping takes no time; a test may act on each sleep. */
export class TestClock implements Clock {
  readonly sleeps: number[] = [];
  onSleep: (count: number) => void | Promise<void> = () => {};
  #now = 0;

  now(): number {
    return this.#now;
  }

  async sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    this.sleeps.push(milliseconds);
    this.#now += milliseconds;
    await this.onSleep(this.sleeps.length);
  }

  /** No jitter: the longest pause. */
  random(): number {
    return 1;
  }
}

/** Returns a client with a test's clock whose requests are retried for ten minutes. */
export function apiClient(origin: string, key: string, clock: Clock): ApiClient {
  const { signal } = new AbortController();
  return new ApiClient({ baseUrl: `${origin}/api/public/v1`, key, trust: {} }, { signal, outageSeconds: 600, clock });
}

/** Returns such a client that has reached the server before. */
export async function connectedClient(origin: string, key: string, clock: Clock): Promise<ApiClient> {
  const client = apiClient(origin, key, clock);
  await client.checkKey();
  return client;
}
