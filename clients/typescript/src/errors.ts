/** Anything that went wrong. */
export class QuipuError extends Error {
  override name = "QuipuError";
}

/** The server cannot be reached, or did not answer in time. A write may have happened. */
export class NotReached extends QuipuError {
  override name = "NotReached";
}

/** The word for why a server said no. */
export type RefusalType =
  | "invalid_request_error"
  | "request_too_large"
  | "authentication_error"
  | "permission_error"
  | "not_found_error"
  | "conflict_error"
  | "precondition_failed_error"
  | "confirmation_required_error"
  | "refused_error"
  | "rate_limit_error"
  | "timeout_error"
  | "unavailable_error"
  | "api_error"
  | "unknown";

/** The server's answer was no; `type` says why. */
export class Refusal extends QuipuError {
  override name = "Refusal";
  readonly type: RefusalType;
  /** The same, finer. */
  readonly code: string;
  /** The field, parameter or header that is wrong. */
  readonly param: string | undefined;
  /** The name of the request, as it stands in the server's log. */
  readonly requestId: string | undefined;
  /** True if the same may succeed later. */
  readonly retryable: boolean;
  /** The token that confirms a destruction, where it was refused for want of one. */
  readonly confirm: string | undefined;
  /** What it would destroy. */
  readonly preview: Record<string, unknown> | undefined;

  constructor(
    readonly status: number,
    body: unknown,
    /** Seconds until then, if the server knows. */
    readonly retryAfter: number | undefined,
  ) {
    const error = ((body as { error?: Record<string, unknown> } | undefined)?.error ?? {}) as Record<string, unknown>;
    const text = (name: string) => (typeof error[name] === "string" ? (error[name] as string) : undefined);
    super(`${text("message") ?? "the server refused"} (${text("code") ?? "unknown"}, HTTP ${status})`);
    this.type = (text("type") ?? "unknown") as RefusalType;
    this.code = text("code") ?? this.type;
    this.param = text("param");
    this.requestId = text("request_id");
    this.retryable = error["retryable"] === true;
    this.confirm = text("confirm");
    this.preview = error["preview"] as Record<string, unknown> | undefined;
  }
}
