//! A document of maps, lists and plain values: as little of JSON as the model needs, written apart from the engine's.

use std::collections::BTreeMap;

use serde_json::{Value, json};

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tree {
    Word(String),
    Number(u8),
    List(Vec<Tree>),
    Map(BTreeMap<String, Tree>),
}

pub(crate) type Path = Vec<&'static str>;

/// What an edit did, so that it can be judged again elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Edited {
    /// It was so already.
    Nothing,
    /// A member was put where none was.
    Put { parent: Path, name: &'static str, value: Tree },
    /// An element was put at the end of a list.
    Appended { list: Path, value: Tree },
    /// A value took the place of another.
    Replaced { path: Path, old: Tree, new: Tree },
    /// A value was taken away.
    Removed { path: Path, old: Tree },
}

impl Tree {
    pub(crate) fn empty() -> Self {
        Self::Map(BTreeMap::new())
    }

    pub(crate) fn json(&self) -> Value {
        match self {
            Self::Word(word) => json!(word),
            Self::Number(number) => json!(number),
            Self::List(items) => items.iter().map(Self::json).collect(),
            Self::Map(members) => members.iter().map(|(name, value)| (name.clone(), value.json())).collect(),
        }
    }

    pub(crate) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |here, step| match here {
            Self::Map(members) => members.get(*step),
            Self::List(items) => items.get(step.parse::<usize>().ok()?),
            _ => None,
        })
    }

    fn at_mut(&mut self, path: &[&str]) -> Option<&mut Self> {
        path.iter().try_fold(self, |here, step| match here {
            Self::Map(members) => members.get_mut(*step),
            Self::List(items) => items.get_mut(step.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// What putting a value at a path would do; `None` if it cannot be put there.
    pub(crate) fn set(&self, path: &Path, value: Tree) -> Option<Edited> {
        if let Some(old) = self.at(path) {
            let same = *old == value;
            let replaced = Edited::Replaced { path: path.clone(), old: old.clone(), new: value };
            return Some(if same { Edited::Nothing } else { replaced });
        }
        let depth = (0..path.len()).find(|&depth| self.at(&path[..=depth]).is_none())?;
        let (parent, name, below) = (path[..depth].to_vec(), path[depth], &path[depth + 1..]);
        let value = below.iter().rev().try_fold(value, |inner, step| match *step {
            "-" => Some(Self::List(vec![inner])),
            step if step.parse::<usize>().is_ok() => None,
            step => Some(Self::Map(BTreeMap::from([(step.to_owned(), inner)]))),
        })?;
        match self.at(&parent)? {
            Self::Map(_) => Some(Edited::Put { parent, name, value }),
            Self::List(items) if name == "-" || name.parse() == Ok(items.len()) => {
                Some(Edited::Appended { list: parent, value })
            }
            _ => None,
        }
    }

    /// What taking away the value at a path would do.
    pub(crate) fn unset(&self, path: &Path) -> Option<Edited> {
        self.at(path).map(|old| Edited::Removed { path: path.clone(), old: old.clone() })
    }

    /// Does it again here; `None` if it does not apply here.
    pub(crate) fn again(&self, edited: &Edited) -> Option<Self> {
        let mut tree = self.clone();
        match edited {
            Edited::Nothing => {}
            Edited::Put { parent, name, value } => {
                let Self::Map(members) = tree.at_mut(parent)? else { return None };
                if members.insert((*name).to_owned(), value.clone()).is_some() {
                    return None;
                }
            }
            Edited::Appended { list, value } => {
                let Self::List(items) = tree.at_mut(list)? else { return None };
                items.push(value.clone());
            }
            Edited::Replaced { path, old, new } => {
                let here = tree.at_mut(path).filter(|here| *here == old)?;
                here.clone_from(new);
            }
            Edited::Removed { path, old } => {
                if tree.at(path)? != old {
                    return None;
                }
                let (last, parent) = path.split_last()?;
                match tree.at_mut(parent)? {
                    Self::Map(members) => drop(members.remove(*last)),
                    Self::List(items) => drop(items.remove(last.parse().ok()?)),
                    _ => return None,
                }
            }
        }
        Some(tree)
    }
}
