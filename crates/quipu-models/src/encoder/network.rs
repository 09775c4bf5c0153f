use std::sync::Arc;

use quipu_engine::ports::embedder::EmbedError;
use rten::{Model, ModelOptions, NodeId, RunOptions, ThreadPool, Value, ValueOrView};
use rten_tensor::prelude::*;

/// How the token vectors are combined into the vector of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pooling {
    /// The mean over all tokens.
    Mean,
    /// The vector of the first token.
    First,
}

/// The content of an input tensor.
#[derive(Debug, Clone, Copy)]
enum Fill {
    TokenIds,
    /// The attention mask: all ones, since there is no padding.
    Ones,
    /// The index of the text that a token belongs to; 0 if there is only one.
    Segments,
}

/// Output of a run.
pub(crate) struct Output {
    /// The text's vector, of length 1.
    pub(crate) vector: Vec<f32>,
    /// The token vectors in order, start and end token included; empty if the graph pools by itself.
    pub(crate) tokens: Vec<f32>,
}

/// The graph of an encoder, ready to run.
pub(crate) struct Network {
    graph: Model,
    inputs: Vec<(NodeId, Fill)>,
    output: NodeId,
    pooling: Pooling,
}

impl Network {
    pub(crate) fn from_static(onnx: &'static [u8], pooling: Pooling) -> Result<Self, String> {
        Self::new(prepacked().load_static_slice(onnx), pooling)
    }

    pub(crate) fn from_bytes(onnx: Vec<u8>, pooling: Pooling) -> Result<Self, String> {
        Self::new(prepacked().load(onnx), pooling)
    }

    fn new(graph: Result<Model, rten::LoadError>, pooling: Pooling) -> Result<Self, String> {
        let graph = graph.map_err(|why| format!("the ONNX graph cannot be loaded: {why}"))?;
        let name = |id: NodeId| {
            let info = graph.node_info(id);
            info.and_then(|info| info.name()).unwrap_or("").to_owned()
        };
        let inputs = graph
            .input_ids()
            .iter()
            .map(|&id| match name(id).as_str() {
                "input_ids" => Ok((id, Fill::TokenIds)),
                "attention_mask" => Ok((id, Fill::Ones)),
                "token_type_ids" => Ok((id, Fill::Segments)),
                other => Err(format!("the ONNX graph has an unknown input `{other}`")),
            })
            .collect::<Result<Vec<_>, _>>()?;
        if !inputs.iter().any(|(_, fill)| matches!(fill, Fill::TokenIds)) {
            return Err("the ONNX graph has no input `input_ids`".to_owned());
        }
        let named = |wanted: &str| graph.output_ids().iter().copied().find(|&id| name(id) == wanted);
        let output = ["last_hidden_state", "token_embeddings", "sentence_embedding"]
            .into_iter()
            .find_map(named)
            .or_else(|| graph.output_ids().first().copied())
            .ok_or("the ONNX graph has no output")?;
        Ok(Self { graph, inputs, output, pooling })
    }

    /// Computes the vectors of the tokens before the first layer, with the shape [1, tokens, dimensions].
    pub(crate) fn words(&self, token_ids: &[i32], threads: &Arc<ThreadPool>) -> Result<Value, EmbedError> {
        let node = self.graph.node_id("embedding_norm").map_err(failed)?;
        self.forward(token_ids, token_ids.len(), node, threads)
    }

    /// Computes the vectors of a text and its tokens.
    pub(crate) fn run(&self, token_ids: &[i32], threads: &Arc<ThreadPool>) -> Result<Output, EmbedError> {
        let output = self.forward(token_ids, token_ids.len(), self.output, threads)?;
        let (pooled, tokens) = self.pool(output, token_ids.len())?;
        let vector = unit(pooled).ok_or_else(|| failed("the vector is zero or not finite"))?;
        Ok(Output { vector, tokens })
    }

    /// Computes the score of a pair of texts, of which the second starts at the token `second`.
    pub(crate) fn judge(&self, token_ids: &[i32], second: usize, threads: &Arc<ThreadPool>) -> Result<f32, EmbedError> {
        let output = self.forward(token_ids, second, self.output, threads)?;
        let shape = output.shape().to_vec();
        let values = output.into_tensor::<f32>().ok_or_else(|| failed("the output is not a float tensor"))?;
        match values.to_vec().as_slice() {
            [one] if one.is_finite() => Ok(*one),
            [_] => Err(failed("the output is not a number")),
            _ => Err(failed(format!("the output has the shape {shape:?}, not one number: not a cross-encoder"))),
        }
    }

    fn forward(
        &self,
        token_ids: &[i32],
        second: usize,
        output: NodeId,
        threads: &Arc<ThreadPool>,
    ) -> Result<Value, EmbedError> {
        let tokens = token_ids.len();
        let inputs = self
            .inputs
            .iter()
            .map(|&(id, fill)| {
                let values = match fill {
                    Fill::TokenIds => token_ids.to_vec(),
                    Fill::Ones => vec![1; tokens],
                    Fill::Segments => (0..tokens).map(|at| i32::from(at >= second)).collect(),
                };
                let value = Value::from_shape([1, tokens], values).map_err(failed)?;
                Ok((id, ValueOrView::from(value)))
            })
            .collect::<Result<Vec<_>, EmbedError>>()?;
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(threads)));
        let outputs = self.graph.run(inputs, &[output], Some(options));
        outputs.map_err(failed)?.pop().ok_or_else(|| failed("no output"))
    }

    fn pool(&self, output: Value, tokens: usize) -> Result<(Vec<f32>, Vec<f32>), EmbedError> {
        let rank = output.ndim();
        if rank == 2 {
            // The graph pools by itself.
            let ([rows, _], vector) = output.into_shape_vec::<f32, 2>().map_err(failed)?;
            return if rows == 1 { Ok((vector, Vec::new())) } else { Err(failed("expected one vector for each text")) };
        }
        let ([texts, rows, dimensions], values) = output.into_shape_vec::<f32, 3>().map_err(failed)?;
        if texts != 1 || rows != tokens || dimensions == 0 {
            return Err(failed("expected one vector for each token"));
        }
        let mut pooled = vec![0.0; dimensions];
        let counted = match self.pooling {
            Pooling::Mean => rows,
            Pooling::First => 1,
        };
        // The vector is normalized afterwards, so the sum replaces the mean.
        for token in values.chunks_exact(dimensions).take(counted) {
            for (sum, value) in pooled.iter_mut().zip(token) {
                *sum += value;
            }
        }
        Ok((pooled, values))
    }
}

pub(crate) fn prepacked() -> ModelOptions {
    let mut options = ModelOptions::with_all_ops();
    options.prepack_weights(true);
    options
}

fn failed(why: impl ToString) -> EmbedError {
    EmbedError::Run(why.to_string())
}

/// Normalizes a vector to length 1; `None` if it is zero or not finite.
pub(crate) fn unit(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if !length.is_normal() {
        return None;
    }
    for value in &mut vector {
        *value /= length;
    }
    Some(vector)
}
