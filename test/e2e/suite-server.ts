import { afterAll, beforeAll } from "bun:test";
import type { TestClient } from "../support/client.ts";
import { startTimeout, TestServer } from "../support/server.ts";

export interface SuiteServer {
  readonly server: TestServer;
  /** There once the tests begin. */
  readonly client: TestClient;
}

/** A server for the tests of the `describe` that this is called in, and a client with a key of a new account. */
export function startServerForSuite(account: string): SuiteServer {
  const server = new TestServer();
  let client: TestClient | undefined;
  beforeAll(async () => {
    await server.start();
    client = server.client(account);
  }, startTimeout);
  afterAll(() => server[Symbol.asyncDispose]());
  return {
    server,
    get client() {
      if (client === undefined) throw new Error("the server has not been started yet");
      return client;
    },
  };
}
