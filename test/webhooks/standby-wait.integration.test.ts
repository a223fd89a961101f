import { expect, test } from "bun:test";
import { HookReceiver } from "../support/hook-receiver.ts";
import { HookBench } from "./support.ts";

test("an event is sent only when the standby has the change of which it tells, and once", async () => {
  await using bench = new HookBench();
  await using receiver = await HookReceiver.start();
  bench.add(receiver.url);
  bench.standby.isThere = false;
  bench.complete();
  await bench.send();
  expect([receiver.messages.length, bench.deliveries()[0]?.attempts]).toEqual([0, 0]);
  // The standby is lost before it confirms the attempt.
  bench.standby.isThere = true;
  bench.standby.onConfirm = () => {
    bench.standby.isThere = false;
  };
  await bench.send();
  expect(receiver.messages).toEqual([]);
  bench.standby.isThere = true;
  bench.standby.onConfirm = () => expect(receiver.messages).toEqual([]);
  await bench.pass(1_000);
  expect(receiver.messages.map(({ id }) => id)).toEqual(bench.deliveries().map(({ id }) => id));
  expect(bench.deliveries()).toMatchObject([{ state: "delivered", lastFault: null }]);
});
