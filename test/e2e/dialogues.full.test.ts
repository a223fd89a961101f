import { describe, test } from "bun:test";
import { available } from "../../harness/checkout.ts";
import { dialogues, expectBothSpeakers, readTurns } from "./dialogues.ts";
import { startServerForSuite } from "./suite-server.ts";

const ready = available("e2e tests of whole dialogues", ...dialogues.map(({ path }) => path));

describe.if(ready)("a transcript of a dialogue of more than a minute", () => {
  const suite = startServerForSuite("dialogues");

  for (const { name, path } of dialogues) {
    test(
      `of ${name} has the right speaker for every turn and at most 15 % wrong words`,
      suite.server.showingLog(async () => expectBothSpeakers(suite.client, path, await readTurns(name))),
      180_000,
    );
  }
});
