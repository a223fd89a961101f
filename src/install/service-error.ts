/** The service can't be installed, removed or looked at; the message says why and what to do next. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
}
