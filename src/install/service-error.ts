/** The service cannot be installed, removed or inspected; the message gives the reason and what to do next. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
}
