use std::fs;
use std::io::ErrorKind;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use quipu_engine::ports::embedder::{EmbedError, Embedded, Embedder, EmbeddingModel};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::encoder::network::{Network, Pooling};
use crate::encoder::network_encoder::Encoder;
use crate::encoder::vocabulary::Vocabulary;
use crate::encoder::word_piece::WordPiece;
use crate::encoder::word_split::SplitRules;

/// The default of sentence-transformers.
const TOKENS_MAX_DEFAULT: usize = 256;

/// A BERT-like encoder read from a folder in the layout of sentence-transformers.
///
/// | file | read for |
/// |---|---|
/// | `model.onnx` | the graph: `input_ids`, and `attention_mask` and `token_type_ids` if it has them; needed |
/// | `tokenizer.json` or `vocab.txt` | the WordPiece vocabulary; one is needed, the first wins |
/// | `tokenizer_config.json` | `do_lower_case`, with `vocab.txt` only; otherwise yes |
/// | `sentence_bert_config.json` | `max_seq_length`; otherwise 256 |
/// | `1_Pooling/config.json` | mean or first token; otherwise mean |
///
/// Weights in a second file beside `model.onnx` are not read. Questions get no prefix, even if a model expects one.
pub struct ModelFolder {
    model: EmbeddingModel,
    tokenizer: WordPiece,
    encoder: Encoder,
}

impl ModelFolder {
    /// Loads the folder's model and embeds one word as a test.
    ///
    /// The model's id is a hash of everything that determines its vectors, so the folder may be moved or renamed.
    ///
    /// # Errors
    /// `Model`, naming the file, if a file is missing or cannot be parsed, the tokenizer is not WordPiece, or the
    /// graph does not run.
    pub fn open(folder: &Path, threads: NonZeroUsize) -> Result<Self, EmbedError> {
        Self::read(folder, threads).map_err(|why| EmbedError::Model(format!("{}: {why}", folder.display())))
    }

    fn read(folder: &Path, threads: NonZeroUsize) -> Result<Self, String> {
        let Loaded { hash, tokenizer, tokens_max, network } = Loaded::read(folder, pooling(folder)?)?;
        let encoder = Encoder::new(Arc::new(network), threads);
        let tried = encoder.embed(&tokenizer, tokens_max, &["quipu"]).map_err(|why| format!("model.onnx: {why}"))?;
        Ok(Self {
            // The files do not say which languages it was trained on.
            model: EmbeddingModel {
                id: format!("folder/{hash}"),
                dimensions: tried[0].len(),
                tokens_max,
                english_only: false,
            },
            tokenizer,
            encoder,
        })
    }
}

impl Embedder for ModelFolder {
    fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.encoder.embed(&self.tokenizer, self.model.tokens_max, texts)
    }

    fn embed_tokens(&self, texts: &[&str]) -> Result<Vec<Embedded>, EmbedError> {
        self.encoder.embed_tokens(&self.tokenizer, self.model.tokens_max, texts)
    }

    fn count_tokens(&self, text: &str) -> usize {
        self.tokenizer.count(text)
    }
}

/// The parts that embedders and rerankers have in common.
pub(crate) struct Loaded {
    /// The first 16 hexadecimal digits of a hash of everything that determines the output.
    pub(crate) hash: String,
    pub(crate) tokenizer: WordPiece,
    pub(crate) tokens_max: usize,
    pub(crate) network: Network,
}

impl Loaded {
    pub(crate) fn read(folder: &Path, pooling: Pooling) -> Result<Self, String> {
        let onnx = read(folder, "model.onnx")?.ok_or("model.onnx is missing")?;
        let tokens_max = tokens_max(folder)?;
        let (tokenizer_bytes, vocabulary, rules) = tokenizer(folder)?;
        let mut hash = blake3::Hasher::new();
        for part in [onnx.as_slice(), &tokenizer_bytes, format!("{rules:?} {pooling:?} {tokens_max}").as_bytes()] {
            hash.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        let hash = hash.finalize().to_hex()[..16].to_owned();
        let tokenizer = WordPiece::new(vocabulary, rules)?;
        Ok(Self { hash, tokenizer, tokens_max, network: Network::from_bytes(onnx, pooling)? })
    }
}

fn read(folder: &Path, name: &str) -> Result<Option<Vec<u8>>, String> {
    match fs::read(folder.join(name)) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(why) if why.kind() == ErrorKind::NotFound => Ok(None),
        Err(why) => Err(format!("{name} cannot be read: {why}")),
    }
}

fn parse<T: DeserializeOwned>(name: &str, bytes: &[u8]) -> Result<T, String> {
    serde_json::from_slice(bytes).map_err(|why| format!("{name} is not understood: {why}"))
}

fn tokens_max(folder: &Path) -> Result<usize, String> {
    #[derive(Deserialize)]
    struct Config {
        max_seq_length: Option<usize>,
    }
    let name = "sentence_bert_config.json";
    let Some(bytes) = read(folder, name)? else {
        return Ok(TOKENS_MAX_DEFAULT);
    };
    match parse::<Config>(name, &bytes)?.max_seq_length {
        None => Ok(TOKENS_MAX_DEFAULT),
        Some(tokens @ 3..) => Ok(tokens),
        Some(tokens) => Err(format!("{name}: max_seq_length {tokens} leaves no room for text")),
    }
}

fn pooling(folder: &Path) -> Result<Pooling, String> {
    #[derive(Deserialize)]
    struct Config {
        #[serde(default)]
        pooling_mode_cls_token: bool,
        #[serde(default)]
        pooling_mode_mean_tokens: bool,
        #[serde(default)]
        pooling_mode_max_tokens: bool,
    }
    let name = "1_Pooling/config.json";
    let Some(bytes) = read(folder, name)? else {
        return Ok(Pooling::Mean);
    };
    let config: Config = parse(name, &bytes)?;
    match (config.pooling_mode_cls_token, config.pooling_mode_mean_tokens, config.pooling_mode_max_tokens) {
        (false, true, false) => Ok(Pooling::Mean),
        (true, false, false) => Ok(Pooling::First),
        _ => Err(format!("{name}: only pooling by mean or by first token is supported")),
    }
}

fn tokenizer(folder: &Path) -> Result<(Vec<u8>, Vocabulary, SplitRules), String> {
    if let Some(bytes) = read(folder, "tokenizer.json")? {
        let (vocabulary, rules) = from_tokenizer_json(&bytes)?;
        return Ok((bytes, vocabulary, rules));
    }
    let bytes = read(folder, "vocab.txt")?.ok_or("tokenizer.json and vocab.txt are missing")?;
    let lines = str::from_utf8(&bytes).map_err(|_| "vocab.txt is not UTF-8")?;
    let vocabulary = Vocabulary::from_lines(lines);

    #[derive(Deserialize)]
    struct Config {
        do_lower_case: Option<bool>,
    }
    let name = "tokenizer_config.json";
    let config = read(folder, name)?.map(|bytes| parse::<Config>(name, &bytes)).transpose()?;
    let cased = config.is_some_and(|config| config.do_lower_case == Some(false));
    let rules = if cased { SplitRules::cased() } else { SplitRules::uncased() };
    Ok((bytes, vocabulary, rules))
}

/// The parts of a `tokenizer.json` that matter here.
#[derive(Deserialize)]
struct TokenizerJson {
    model: serde_json::Value,
    normalizer: Option<Normalizer>,
    pre_tokenizer: Option<Kind>,
}

#[derive(Deserialize)]
struct Kind {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct Normalizer {
    #[serde(rename = "type")]
    kind: String,
    clean_text: Option<bool>,
    handle_chinese_chars: Option<bool>,
    strip_accents: Option<bool>,
    lowercase: Option<bool>,
}

#[derive(Deserialize)]
struct Model {
    vocab: std::collections::HashMap<String, i32>,
    unk_token: String,
    continuing_subword_prefix: String,
    max_input_chars_per_word: usize,
}

fn from_tokenizer_json(bytes: &[u8]) -> Result<(Vocabulary, SplitRules), String> {
    let name = "tokenizer.json";
    let json: TokenizerJson = parse(name, bytes)?;
    let kind = json.model["type"].as_str().unwrap_or("unnamed");
    if kind != "WordPiece" {
        return Err(format!("{name}: the tokenizer is {kind}; only WordPiece is supported"));
    }
    let model: Model = serde_json::from_value(json.model).map_err(|why| format!("{name} is not understood: {why}"))?;
    if (model.unk_token.as_str(), model.continuing_subword_prefix.as_str()) != ("[UNK]", "##")
        || model.max_input_chars_per_word != crate::encoder::word_piece::WORD_CHARS_MAX
    {
        return Err(format!("{name}: only BERT's own WordPiece settings are supported"));
    }
    let Some(normalizer) = json.normalizer.filter(|part| part.kind == "BertNormalizer") else {
        return Err(format!("{name}: only BertNormalizer is supported"));
    };
    if json.pre_tokenizer.is_none_or(|part| part.kind != "BertPreTokenizer") {
        return Err(format!("{name}: only BertPreTokenizer is supported"));
    }
    let lower_case = normalizer.lowercase.unwrap_or(true);
    let rules = SplitRules {
        drop_controls: normalizer.clean_text.unwrap_or(true),
        split_ideographs: normalizer.handle_chinese_chars.unwrap_or(true),
        strip_accents: normalizer.strip_accents.unwrap_or(lower_case),
        lower_case,
    };
    let pieces = model.vocab.iter().map(|(piece, &id)| (piece.as_str(), id));
    Ok((Vocabulary::from_pieces(pieces), rules))
}
