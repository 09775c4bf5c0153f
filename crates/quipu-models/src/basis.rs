/// Directions in which a model's token vectors differ most.
pub(crate) struct Basis {
    /// For each dimension its part of every direction: a projection then adds whole rows, which processors do many at once.
    parts: Vec<f32>,
    directions: usize,
}

impl Basis {
    /// Little-endian numbers, one direction after the other.
    pub(crate) fn from_bytes(bytes: &[u8], dimensions: usize) -> Result<Self, String> {
        let (numbers, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() || numbers.is_empty() || !numbers.len().is_multiple_of(dimensions) {
            return Err(format!("the token basis is no whole number of directions of {dimensions} parts"));
        }
        let directions = numbers.len() / dimensions;
        let part = |at: usize| f32::from_le_bytes(numbers[at % directions * dimensions + at / directions]);
        Ok(Self { parts: (0..numbers.len()).map(part).collect(), directions })
    }

    /// How far a vector goes in each direction.
    pub(crate) fn project(&self, vector: &[f32]) -> Vec<f32> {
        let mut along = vec![0.0; self.directions];
        for (value, row) in vector.iter().zip(self.parts.chunks_exact(self.directions)) {
            for (sum, part) in along.iter_mut().zip(row) {
                *sum += value * part;
            }
        }
        along
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_basis_projects_and_a_broken_one_is_refused() {
        let bytes: Vec<u8> = [1.0f32, 0.0, 0.0, 0.0, 0.0, 2.0].iter().flat_map(|part| part.to_le_bytes()).collect();
        let projected = Basis::from_bytes(&bytes, 3).map(|basis| basis.project(&[5.0, 6.0, 7.0]));
        assert_eq!(projected, Ok(vec![5.0, 14.0]));
        for (bytes, dimensions) in [(&bytes[..23], 3), (&bytes[..], 4), (&[][..], 3)] {
            assert!(Basis::from_bytes(bytes, dimensions).is_err());
        }
    }
}
