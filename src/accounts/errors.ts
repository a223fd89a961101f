/** An administrative request that can't be carried out; the message says why and what to do. */
export class AccountsError extends Error {
  override readonly name = "AccountsError";
}
