//! What recall searches: passages with their terms, vectors and neighbours, and the text of derived items.

pub(in crate::recall) mod dense;
pub(in crate::recall) mod derived;
pub(in crate::recall) mod image;
pub(in crate::recall) mod passage_index;
pub(in crate::recall) mod passages;
pub(in crate::recall) mod scan;
pub(crate) mod tokens;
pub(in crate::recall) mod words;
