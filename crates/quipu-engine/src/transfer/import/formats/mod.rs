//! Parsers of the import formats, one module per format.

pub(in crate::transfer::import) mod chatgpt;
pub(in crate::transfer::import) mod claude;
pub mod locomo;
pub mod longmemeval;
pub(in crate::transfer::import) mod markdown;
pub(in crate::transfer::import) mod mem0;
pub(in crate::transfer::import) mod memory_jsonl;
pub(in crate::transfer::import) mod openai;
pub(in crate::transfer::import) mod telegram;
pub(in crate::transfer::import) mod text;
pub(in crate::transfer::import) mod whatsapp;
