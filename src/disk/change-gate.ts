import { orAborted } from "../text/index.ts";

/** Decides whether changes may be acknowledged: with `standby.wait`, the standby must have each of them first. */
export interface ChangeGate {
  /** Returns the reason why no change is accepted now, as text for people; null if changes are accepted. */
  refusal(): string | null;
  /** Resolves when the standby has what was written before the call: with null, or the reason why that is unknown. */
  confirmed(): Promise<string | null>;
}

/**
 * Waits until what was written before may be acknowledged to somebody outside the server.
 * @returns false if the standby is away, or was lost before it confirmed
 * @throws the signal's reason after an abort
 */
export async function mayAcknowledge(gate: ChangeGate, signal: AbortSignal): Promise<boolean> {
  return gate.refusal() === null && (await orAborted(gate.confirmed(), signal)) === null;
}
