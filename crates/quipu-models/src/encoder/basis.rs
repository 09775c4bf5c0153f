/// The directions in which a model's token vectors differ most.
pub(crate) struct Basis {
    /// One row for each dimension, with its component in every direction: a projection adds whole rows, which
    /// vectorizes.
    parts: Vec<f32>,
    directions: usize,
}

impl Basis {
    /// Parses little-endian numbers, one direction after the other.
    pub(crate) fn from_bytes(bytes: &[u8], dimensions: usize) -> Result<Self, String> {
        let (numbers, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() || numbers.is_empty() || !numbers.len().is_multiple_of(dimensions) {
            return Err(format!("the token basis does not consist of whole directions of {dimensions} parts"));
        }
        let directions = numbers.len() / dimensions;
        let part = |at: usize| f32::from_le_bytes(numbers[at % directions * dimensions + at / directions]);
        Ok(Self { parts: (0..numbers.len()).map(part).collect(), directions })
    }

    /// The component of a vector in each direction.
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
