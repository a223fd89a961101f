/** Failure of an administrative request. The message gives the reason and the remedy. */
export class AccountsError extends Error {
  override readonly name = "AccountsError";
}
