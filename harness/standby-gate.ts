import type { ChangeGate } from "../src/disk/index.ts";

/** The changes of a server whose standby is there or away, as a test says. */
export class StandbyGate implements ChangeGate {
  /** Whether a standby follows. */
  isThere = true;
  /** Called before changes are confirmed. */
  onConfirm: () => void | Promise<void> = () => {};

  refusal(): string | null {
    return this.isThere ? null : "the standby is away";
  }

  async confirmed(): Promise<string | null> {
    await this.onConfirm();
    return this.refusal();
  }
}
