import { expect, test } from "bun:test";
import type { Console } from "../../src/console/index.ts";
import { ConsoleSwitch } from "../../src/server/console-switch.ts";

/** Returns a console that responds with its number and records when it is closed. */
function numbered(number: number, closed: string[]): Console {
  return {
    routes: [],
    handle: async () => new Response(String(number)),
    close: async () => void closed.push(`${number} closed`),
  };
}

test("the console exists while the settings enable it, and its paths do not exist otherwise", async () => {
  let enabled = false;
  let made = 0;
  const closed: string[] = [];
  const console = new ConsoleSwitch(
    () => enabled,
    () => numbered(++made, closed),
  );
  const answer = async (path = "/console/") => {
    if (!console.isOn() || !console.owns(path)) return null;
    return await (await console.handle(new Request("http://localhost/console/"))).text();
  };

  console.follow();
  expect([await answer(), made]).toEqual([null, 0]);

  enabled = true;
  expect(await answer()).toBeNull();
  console.follow();
  console.follow();
  expect([await answer(), await answer("/api/public/v1/x"), made]).toEqual(["1", null, 1]);

  enabled = false;
  console.follow();
  expect([await answer(), closed]).toEqual([null, ["1 closed"]]);

  enabled = true;
  console.follow();
  expect(await answer()).toBe("2");
  await console.close();
  expect([await answer(), closed.at(-1)]).toEqual([null, "2 closed"]);
});

test("a console that is enabled again opens after the previous one has closed, and none opens after the server's end", async () => {
  const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let enabled = true;
  let made = 0;
  const console = new ConsoleSwitch(
    () => enabled,
    () => {
      const end = ends[made];
      return { ...numbered(++made, []), close: async () => end?.promise };
    },
  );
  console.follow();
  enabled = false;
  console.follow();
  enabled = true;
  console.follow();
  expect([made, console.isOn()]).toEqual([1, false]);
  ends[0]?.resolve();
  await Bun.sleep(1);
  expect([made, console.isOn()]).toEqual([2, true]);
  const closed = console.close();
  ends[1]?.resolve();
  await closed;
  await Bun.sleep(1);
  expect([made, console.isOn()]).toEqual([2, false]);
});
