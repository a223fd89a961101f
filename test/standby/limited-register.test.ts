import { expect, test } from "bun:test";
import { FenceError } from "../../src/standby/index.ts";
import { LimitedRegister } from "../../src/standby/limited-register.ts";
import { leaseOf } from "./leases.ts";

test("a register that does not answer fails, begins nothing else meanwhile, and works again afterwards", async () => {
  let reads = 0;
  const answer = Promise.withResolvers<void>();
  const register = new LimitedRegister(
    {
      forgets: false,
      identify: async () => "id",
      async read() {
        reads++;
        if (reads === 1) await answer.promise;
        return { record: leaseOf(reads), version: `${reads}` };
      },
      replace: async () => "2",
      close: async () => {},
    },
    20,
    "the fence's folder /mnt/fence",
  );
  const refusal = "the fence's folder /mnt/fence does not answer; see that the storage is reachable and works";
  await expect(register.read()).rejects.toThrow(new FenceError(refusal));
  await expect(register.identify()).rejects.toThrow(refusal);
  await expect(register.replace("1", leaseOf(1))).rejects.toThrow(refusal);
  await register.close();
  expect(reads).toBe(1);
  answer.resolve();
  await Bun.sleep(0);
  expect((await register.read()).version).toBe("2");
  expect(await register.identify()).toBe("id");
});
