/** Base class of all errors of this client. */
export class QuipuError extends Error {
  override name = "QuipuError";
}

/** The server is unreachable or did not respond in time. A write may have taken effect. */
export class NotReached extends QuipuError {
  override name = "NotReached";
}

/** The machine-readable reason of a refusal. */
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

/** The server refused the request; `type` gives the reason. */
export class Refusal extends QuipuError {
  override name = "Refusal";
  readonly type: RefusalType;
  /** A more specific error code. */
  readonly code: string;
  /** The invalid field, parameter or header. */
  readonly param: string | undefined;
  /** The request id, as in the server's log. */
  readonly requestId: string | undefined;
  /** True if the same request may succeed later. */
  readonly retryable: boolean;
  /** If an erasure or deletion needs confirmation: the token to confirm it. */
  readonly confirm: string | undefined;
  /** If an erasure or deletion needs confirmation: what it would destroy. */
  readonly preview: Record<string, unknown> | undefined;

  constructor(
    readonly status: number,
    body: unknown,
    /** Seconds to wait before a retry, if the server gave them. */
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
