//! What can go wrong at a model server.

/// Where a fault shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The reply arrives, and what it says is wrong.
    Text,
    /// The server answers with an error.
    Status,
    /// The bytes do not arrive as they should.
    Transport,
}

/// Declares the faults once: variant, name on the outside, where it shows.
macro_rules! faults {
    ($($(#[$doc:meta])+ $variant:ident, $name:literal, $kind:ident;)+) => {
        /// One thing a model server does wrong.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Fault {
            $($(#[$doc])+ $variant,)+
        }

        impl Fault {
            /// Every fault, in the order they are listed.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Its name in reports.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// Where it shows.
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
    /// The reply stands in a fence, as in Markdown.
    Fenced, "fenced", Text;
    /// Words after the reply.
    TrailingProse, "trailing prose", Text;
    /// Words before the reply.
    LeadingProse, "leading prose", Text;
    /// A `<think>` block with another object in it comes first.
    Thinks, "think block", Text;
    /// `{"facts":[}`.
    UnclosedList, "unclosed list", Text;
    /// Two objects one after the other.
    TwoObjects, "two objects", Text;
    /// The first key stands there twice, with another value.
    DuplicateKeys, "duplicate keys", Text;
    /// A number is `NaN`.
    NotANumber, "NaN", Text;
    /// Two hundred arrays in each other.
    DeepNesting, "deep nesting", Text;
    /// Single quotes, `True` and a comma too many: an object as Python prints it.
    PythonObject, "python object", Text;
    /// Cut at some byte, and `finish_reason` says so.
    CutShort, "cut short", Text;
    /// Cut at some byte, and nothing says so.
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
    /// No choice at all.
    ChoiceMissing, "choice missing", Text;
    /// A call of a tool nobody offered, and no content.
    ToolCallInstead, "tool call instead", Text;
    /// The field for refusals is filled.
    RefusalField, "refusal field", Text;
    /// A refusal in words.
    RefusalProse, "refusal prose", Text;
    /// Every text is a number and every list a text.
    WrongTypes, "wrong types", Text;
    /// Keys nobody asked for.
    UnknownKeys, "unknown keys", Text;
    /// Ids nobody showed it.
    HallucinatedIds, "hallucinated ids", Text;
    /// Names and numbers nobody said.
    HallucinatedFacts, "hallucinated facts", Text;
    /// Everything it was shown is to be removed.
    RemovesEverything, "removes everything", Text;
    /// Dates before the beginning and after the end of time, and some that never were.
    ExtremeDates, "extreme dates", Text;
    /// It says back what it was shown.
    Echoes, "echoes what it was shown", Text;
    /// Orders to whoever reads it.
    Injects, "injected instructions", Text;
    /// Texts of a hundred thousand letters.
    Endless, "endless texts", Text;
    /// Control and bidirectional characters.
    ControlCharacters, "control characters", Text;

    /// 429 with `Retry-After: 1`.
    RateLimited, "429 with Retry-After", Status;
    /// 429 without.
    RateLimitedSilently, "429 without Retry-After", Status;
    /// 429 with a `Retry-After` nobody can keep: negative, of a thousand million seconds, in the past, no number.
    RateLimitedAbsurdly, "429 with an absurd Retry-After", Status;
    /// 429 that says the quota is used up.
    QuotaSpent, "429 quota spent", Status;
    /// 401.
    Unauthorised401, "401", Status;
    /// 403, with a page.
    Forbidden403, "403", Status;
    /// 404: no such model.
    NoSuchModel404, "404 no such model", Status;
    /// 400: the prompt is too long.
    TooLong400, "400 context too long", Status;
    /// 500 with an error as an object.
    Unavailable500, "500", Status;
    /// 502 with a page of HTML.
    BadGateway502, "502 with HTML", Status;
    /// 503: the model is loading.
    Loading503, "503 loading", Status;
    /// 529: overloaded.
    Overloaded529, "529", Status;
    /// 400 with the error as a plain string, to everything.
    ErrorAsText400, "400 with the error as a string", Status;
    /// 200 with an error in the body.
    ErrorIn200, "200 with an error in it", Status;
    /// Any `response_format` is refused with 400.
    RejectsFormat400, "400 to any response_format", Status;
    /// `json_schema` is refused with 400.
    RejectsSchema400, "400 to json_schema", Status;
    /// `json_schema` is refused with 500.
    RejectsSchema500, "500 to json_schema", Status;
    /// `json_object` is refused with 400 and the error as a plain string.
    RejectsObject400, "400 to json_object", Status;
    /// 302 to another place.
    Redirects302, "302", Status;

    /// Nothing comes, not even headers.
    HangsAtOnce, "hang before headers", Transport;
    /// The headers come, and some bytes.
    HangsMidway, "hang midway", Transport;
    /// The connection is reset before anything came.
    ResetAtOnce, "reset before headers", Transport;
    /// The connection is reset after some bytes.
    ResetMidway, "reset midway", Transport;
    /// The connection ends in good order, but too early.
    ClosesMidway, "closed midway", Transport;
    /// Byte by byte, slowly.
    Drips, "slow drip", Transport;
    /// Tens of millions of bytes.
    Oversized, "oversized body", Transport;
    /// What comes is no HTTP.
    NotHttp, "no HTTP", Transport;
    /// Bytes that are no UTF-8.
    NotUtf8, "no UTF-8", Transport;
    /// A page of HTML with status 200.
    HtmlPage, "HTML with 200", Transport;
    /// A stream whose events are no JSON; a plain reply that is none.
    GarbledEvents, "garbled events", Transport;
    /// A stream with an error event in its middle.
    ErrorMidway, "error event midway", Transport;
    /// A stream that ends without saying so.
    NoEnd, "stream without an end", Transport;
}

impl Fault {
    /// The fault of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|fault| fault.name() == name)
    }
}
