use std::collections::HashMap;

/// Prefix of a piece that continues a word.
const CONTINUES: &str = "##";

/// The word pieces of a model with their ids.
pub(crate) struct Vocabulary {
    /// Pieces that may begin a word.
    first: HashMap<Box<str>, i32>,
    /// Pieces that may follow another one, without the prefix.
    further: HashMap<Box<str>, i32>,
    /// Length of the longest piece in bytes.
    piece_bytes_max: usize,
}

impl Vocabulary {
    /// Parses a `vocab.txt`: one piece on each line, whose id is the line number from 0.
    pub(crate) fn from_lines(lines: &str) -> Self {
        let pieces = lines.lines().zip(0..);
        Self::from_pieces(pieces.map(|(piece, id)| (piece.trim_end(), id)))
    }

    pub(crate) fn from_pieces<'a>(pieces: impl Iterator<Item = (&'a str, i32)>) -> Self {
        let mut vocabulary = Self { first: HashMap::new(), further: HashMap::new(), piece_bytes_max: 1 };
        for (piece, id) in pieces {
            vocabulary.piece_bytes_max = vocabulary.piece_bytes_max.max(piece.len());
            match piece.strip_prefix(CONTINUES) {
                Some(rest) if !rest.is_empty() => vocabulary.further.insert(rest.into(), id),
                _ => vocabulary.first.insert(piece.into(), id),
            };
        }
        vocabulary
    }

    /// The id of a piece that begins a word, or of a special token.
    pub(crate) fn id(&self, piece: &str) -> Option<i32> {
        self.first.get(piece).copied()
    }

    /// The longest piece that `word` starts with, as its id and its length in bytes. `within`: the piece continues a
    /// word.
    pub(crate) fn longest_piece(&self, word: &str, within: bool) -> Option<(i32, usize)> {
        let pieces = if within { &self.further } else { &self.first };
        let mut end = word.floor_char_boundary(self.piece_bytes_max);
        while end > 0 {
            if let Some(&id) = pieces.get(&word[..end]) {
                return Some((id, end));
            }
            end = word.floor_char_boundary(end - 1);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_piece_wins_and_marks_are_kept_apart() {
        let vocabulary = Vocabulary::from_lines("un\nuna\n##aff\n##able\nable\n##é\n");
        assert_eq!(vocabulary.longest_piece("unaffable", false), Some((1, 3)));
        assert_eq!(vocabulary.longest_piece("able", false), Some((4, 4)));
        assert_eq!(vocabulary.longest_piece("able", true), Some((3, 4)));
        assert_eq!(vocabulary.longest_piece("éa", true), Some((5, 2)));
        assert_eq!(vocabulary.longest_piece("é", false), None);
        assert_eq!(vocabulary.id("##able"), None);
    }
}
