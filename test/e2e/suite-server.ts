import { afterAll, beforeAll } from "bun:test";
import type { TestClient } from "../../harness/client.ts";
import { startTimeout, TestServer } from "../../harness/server.ts";

export interface SuiteServer {
  readonly server: TestServer;
  /** Available when the tests start. */
  readonly client: TestClient;
}

/**
 * Starts a server for the tests of the enclosing `describe`, and creates a client with a key of a new account.
 * @param environment settings of the server
 */
export function startServerForSuite(account: string, environment: Readonly<Record<string, string>> = {}): SuiteServer {
  const server = new TestServer(environment);
  let client: TestClient | undefined;
  beforeAll(async () => {
    await server.start();
    client = server.client(account);
  }, startTimeout);
  afterAll(() => server[Symbol.asyncDispose]());
  return {
    server,
    get client() {
      if (client === undefined) throw new Error("the server has not started yet");
      return client;
    },
  };
}
