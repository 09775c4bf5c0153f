//! The recall index: passages with their terms, vectors and neighbours, and the text of derived items.

pub(in crate::recall) mod cues;
pub(in crate::recall) mod dense;
pub(in crate::recall) mod derived;
pub(in crate::recall) mod filter;
pub(in crate::recall) mod image;
pub(in crate::recall) mod names;
pub(in crate::recall) mod passage_index;
pub(in crate::recall) mod passages;
pub(in crate::recall) mod scan;
pub(in crate::recall) mod talk;
pub(in crate::recall) mod token_code;
pub(in crate::recall) mod value_kind;
pub(in crate::recall) mod when;
pub(in crate::recall) mod words;
