//! Faults of a model server.

/// Where a fault occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The reply arrives with wrong content.
    Text,
    /// The server responds with an error.
    Status,
    /// The transfer of the bytes fails.
    Transport,
}

/// Declares each fault once: variant, name in reports, kind.
macro_rules! faults {
    ($($(#[$doc:meta])+ $variant:ident, $name:literal, $kind:ident;)+) => {
        /// One fault of a model server.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Fault {
            $($(#[$doc])+ $variant,)+
        }

        impl Fault {
            /// Every fault, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Its name in reports.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// Where it occurs.
            #[must_use]
            pub fn kind(self) -> FaultKind {
                match self {
                    $(Self::$variant => FaultKind::$kind,)+
                }
            }
        }
    };
}

faults! {
    /// The reply is inside a Markdown code fence.
    Fenced, "fenced", Text;
    /// Prose after the reply.
    TrailingProse, "trailing prose", Text;
    /// Prose before the reply.
    LeadingProse, "leading prose", Text;
    /// A `<think>` block with another object precedes the reply.
    Thinks, "think block", Text;
    /// `{"facts":[}`.
    UnclosedList, "unclosed list", Text;
    /// Two objects one after the other.
    TwoObjects, "two objects", Text;
    /// The first key occurs twice, with different values.
    DuplicateKeys, "duplicate keys", Text;
    /// A number is `NaN`.
    NotANumber, "NaN", Text;
    /// Two hundred nested arrays.
    DeepNesting, "deep nesting", Text;
    /// Single quotes, `True` and a trailing comma: an object as Python prints it.
    PythonObject, "python object", Text;
    /// Cut at some byte, with a `finish_reason` that says so.
    CutShort, "cut short", Text;
    /// Cut at some byte, without any sign of it.
    CutSilently, "cut silently", Text;
    /// White space up to the length limit.
    EndlessWhitespace, "endless whitespace", Text;
    /// `[]`.
    EmptyList, "empty list", Text;
    /// `null`.
    Null, "null", Text;
    /// An empty reply.
    EmptyContent, "empty content", Text;
    /// A message without content.
    ContentMissing, "content missing", Text;
    /// An empty list of choices.
    ChoiceMissing, "choice missing", Text;
    /// A call of a tool that was not offered, and no content.
    ToolCallInstead, "tool call instead", Text;
    /// The refusal field is filled.
    RefusalField, "refusal field", Text;
    /// A refusal in prose.
    RefusalProse, "refusal prose", Text;
    /// Every text is replaced by a number and every list by a text.
    WrongTypes, "wrong types", Text;
    /// Keys that the schema does not have.
    UnknownKeys, "unknown keys", Text;
    /// Ids that do not occur in the prompt.
    HallucinatedIds, "hallucinated ids", Text;
    /// Names and numbers that do not occur in the prompt.
    HallucinatedFacts, "hallucinated facts", Text;
    /// Removes every entry of the prompt.
    RemovesEverything, "removes everything", Text;
    /// Dates outside the supported range, and invalid dates.
    ExtremeDates, "extreme dates", Text;
    /// Repeats the prompt.
    Echoes, "echoes what it was shown", Text;
    /// Instructions to the reader.
    Injects, "injected instructions", Text;
    /// Texts of 100,000 letters.
    Endless, "endless texts", Text;
    /// Control and bidirectional characters.
    ControlCharacters, "control characters", Text;

    /// 429 with `Retry-After: 1`.
    RateLimited, "429 with Retry-After", Status;
    /// 429 without `Retry-After`.
    RateLimitedSilently, "429 without Retry-After", Status;
    /// 429 with an unusable `Retry-After`: negative, a thousand million seconds, in the past, not a number.
    RateLimitedAbsurdly, "429 with an absurd Retry-After", Status;
    /// 429: the quota is used up.
    QuotaSpent, "429 quota spent", Status;
    /// 401.
    Unauthorised401, "401", Status;
    /// 403 with an HTML page.
    Forbidden403, "403", Status;
    /// 404: no such model.
    NoSuchModel404, "404 no such model", Status;
    /// 400: the prompt is too long.
    TooLong400, "400 context too long", Status;
    /// 500 with an error object.
    Unavailable500, "500", Status;
    /// 502 with an HTML page.
    BadGateway502, "502 with HTML", Status;
    /// 503: the model is loading.
    Loading503, "503 loading", Status;
    /// 529: overloaded.
    Overloaded529, "529", Status;
    /// 400 with the error as a plain string, for every request.
    ErrorAsText400, "400 with the error as a string", Status;
    /// 200 with an error in the body.
    ErrorIn200, "200 with an error in it", Status;
    /// 400 for any `response_format`.
    RejectsFormat400, "400 to any response_format", Status;
    /// 400 for `json_schema`.
    RejectsSchema400, "400 to json_schema", Status;
    /// 500 for `json_schema`.
    RejectsSchema500, "500 to json_schema", Status;
    /// 400 for `json_object`, with the error as a plain string.
    RejectsObject400, "400 to json_object", Status;
    /// 302 to another address.
    Redirects302, "302", Status;

    /// No bytes arrive, not even headers.
    HangsAtOnce, "hang before headers", Transport;
    /// The headers and some bytes arrive, then nothing.
    HangsMidway, "hang midway", Transport;
    /// The connection is reset before the first byte.
    ResetAtOnce, "reset before headers", Transport;
    /// The connection is reset after some bytes.
    ResetMidway, "reset midway", Transport;
    /// The connection is closed in good order, but too early.
    ClosesMidway, "closed midway", Transport;
    /// One byte at a time, slowly.
    Drips, "slow drip", Transport;
    /// Tens of millions of bytes.
    Oversized, "oversized body", Transport;
    /// The bytes are not HTTP.
    NotHttp, "no HTTP", Transport;
    /// The bytes are not UTF-8.
    NotUtf8, "no UTF-8", Transport;
    /// A page of HTML with status 200.
    HtmlPage, "HTML with 200", Transport;
    /// A stream of events that are not JSON, or a plain reply that is not.
    GarbledEvents, "garbled events", Transport;
    /// A stream with an error event in its middle.
    ErrorMidway, "error event midway", Transport;
    /// A stream that ends without its final event.
    NoEnd, "stream without an end", Transport;
}

impl Fault {
    /// The fault with that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|fault| fault.name() == name)
    }
}
