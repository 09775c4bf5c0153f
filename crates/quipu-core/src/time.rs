//! Time as Quipu keeps it: UTC, to the microsecond.

/// Keeps an optional time as microseconds since 1970, which a snapshot reads ten times faster than text.
pub(crate) mod micros {
    use jiff::Timestamp;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    pub(crate) fn serialize<S: Serializer>(time: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
        time.map(Timestamp::as_microsecond).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
        Option::<i64>::deserialize(deserializer)?
            .map(|micros| Timestamp::from_microsecond(micros).map_err(de::Error::custom))
            .transpose()
    }
}

/// The time cut to whole microseconds, as it is stored.
pub fn to_micros(time: jiff::Timestamp) -> jiff::Timestamp {
    jiff::Timestamp::from_microsecond(time.as_microsecond()).unwrap_or(time)
}

/// Whole days since 1970-01-01 UTC.
pub fn day_number(time: jiff::Timestamp) -> i32 {
    i32::try_from(time.as_second().div_euclid(86_400)).unwrap_or(i32::MAX)
}
