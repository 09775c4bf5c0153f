use std::sync::Arc;

use rten::{Model, NodeId, RunOptions, ValueOrView};

use crate::encoder::mini_lm;
use crate::encoder::network::{Network, prepacked};
use crate::encoder::network_encoder::{Lanes, threads_default};
use crate::encoder::vocabulary::Vocabulary;
use crate::encoder::word_piece::WordPiece;
use crate::encoder::word_split::SplitRules;

/// The layers, as written by `reader/export.py`.
static LAYERS: &[u8] = include_bytes!("../../reader/reader.onnx");

/// The trained reader's network, which computes two scores for every token of a text.
pub(crate) struct TokenClassifier {
    tokenizer: WordPiece,
    /// The built-in embedder, of which only the word vectors are computed.
    words: Arc<Network>,
    layers: Model,
    input: NodeId,
    output: NodeId,
    lanes: Lanes,
}

impl TokenClassifier {
    pub(crate) fn new() -> Result<Self, String> {
        let layers = prepacked().load_static_slice(LAYERS);
        let layers = layers.map_err(|why| format!("the ONNX graph cannot be loaded: {why}"))?;
        let node = |name: &str| layers.node_id(name).map_err(|why| format!("the ONNX graph has no `{name}`: {why}"));
        Ok(Self {
            tokenizer: WordPiece::new(Vocabulary::from_lines(mini_lm::VOCABULARY), SplitRules::uncased())?,
            words: mini_lm::network()?,
            input: node("embedding_norm")?,
            output: node("scores")?,
            lanes: Lanes::new(threads_default()),
            layers,
        })
    }

    /// The token ids of a text, without start and end token, and at most `tokens_max` of them.
    pub(crate) fn tokens(&self, text: &str, tokens_max: usize) -> Vec<i32> {
        let ids = self.tokenizer.encode_words(text, tokens_max.saturating_add(2)).0;
        ids[1..ids.len() - 1].to_vec()
    }

    /// Computes two scores for each token of a text that follows another one, which may be empty: whether it belongs to
    /// something worth keeping, and whether a new statement begins with it. Both are log-odds.
    pub(crate) fn scores(&self, before: &[i32], text: &[i32]) -> Result<Vec<[f32; 2]>, String> {
        let (start, end) = self.tokenizer.ends();
        let mut ids = vec![start];
        if !before.is_empty() {
            ids.extend(before);
            ids.push(end);
        }
        let from = ids.len();
        ids.extend(text);
        ids.push(end);
        let thread = self.lanes.next();
        let words = self.words.words(&ids, thread).map_err(|why| why.to_string())?;
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(thread)));
        let inputs = vec![(self.input, ValueOrView::from(words))];
        let outputs = self.layers.run(inputs, &[self.output], Some(options)).map_err(|why| why.to_string())?;
        let scores = outputs.into_iter().next().ok_or("no output")?;
        let ([_, rows, columns], scores) = scores.into_shape_vec::<f32, 3>().map_err(|why| why.to_string())?;
        if rows != ids.len() || columns != 2 || scores.iter().any(|score| !score.is_finite()) {
            return Err(format!("{rows} rows of {columns} scores for {} tokens, or no finite score", ids.len()));
        }
        Ok(scores.as_chunks().0.iter().skip(from).take(text.len()).copied().collect())
    }
}
