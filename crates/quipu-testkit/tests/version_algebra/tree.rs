//! A document of maps, lists and scalars: the part of JSON that the model needs, implemented independently of the
//! engine.

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

/// The effect of an edit, in a form that can be applied elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Edited {
    /// No effect.
    Nothing,
    /// A new member. Missing parent maps are created.
    Put { path: Path, value: Tree, makes_category: bool },
    /// A new element at the end of a list, which is created if it is missing.
    Appended { list: Path, value: Tree },
    /// A replaced value.
    Replaced { path: Path, old: Tree, new: Tree },
    /// A removed value.
    Removed { path: Path, old: Tree },
}

/// A member of `uncategorized` that becomes a category, as decided.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Promotion {
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
    /// The category existed already.
    joins: bool,
    /// The category has a list in the member's place, and the member is a list of this many elements, which are
    /// appended.
    elements: Option<usize>,
    /// Its name in the category.
    name: String,
    /// Whether this left `uncategorized` empty.
    sweeps: bool,
}

impl Promotion {
    /// The number of changes: the promotion, the category, the moves, and the removal of empty containers.
    pub(crate) fn changes(&self) -> usize {
        let moves = self.elements.map_or(1, |elements| elements + 1);
        1 + usize::from(!self.joins) + moves + usize::from(self.sweeps)
    }
}

impl Edited {
    /// The members of `uncategorized` in the patches. A list or map is recorded completely where it is replaced or
    /// removed.
    pub(crate) fn members(&self) -> Vec<&'static str> {
        const MEMBERS: [&str; 4] = ["a", "b", "e", "list"];
        let below = |path: &Path, value: &Tree| match path.as_slice() {
            ["uncategorized", name, ..] => vec![*name],
            ["uncategorized"] => MEMBERS.into_iter().filter(|name| value.at(&[name]).is_some()).collect(),
            [] => MEMBERS.into_iter().filter(|name| value.at(&["uncategorized", name]).is_some()).collect(),
            _ => Vec::new(),
        };
        match self {
            Self::Nothing => Vec::new(),
            Self::Put { path, value, .. } => below(path, value),
            Self::Appended { list, value } => below(list, value),
            Self::Replaced { path, old, .. } | Self::Removed { path, old } => below(path, old),
        }
    }
}

impl Tree {
    /// The effect of promoting a member of `uncategorized`.
    pub(crate) fn promotion(&self, from: &'static str, to: &'static str) -> Promotion {
        let place = self.at(&["uncategorized", from]);
        let there = self.at(&[to, from]);
        let elements = match (place, there) {
            (Some(Self::List(own)), Some(Self::List(_))) => Some(own.len()),
            _ => None,
        };
        let taken = there.is_some() && elements.is_none();
        let names = std::iter::once(from.to_owned()).chain((2..).map(|n| format!("{from}{n}")));
        let free = |name: &String| !taken || self.at(&[to, name]).is_none();
        let left = match self.at(&["uncategorized"]) {
            Some(Self::Map(members)) => members.len(),
            _ => 0,
        };
        let joins = self.at(&[to]).is_some();
        let name = names.into_iter().find(free).unwrap_or_default();
        Promotion { from, to, joins, elements, name, sweeps: left == 1 }
    }

    /// Applies it again, as far as its parts apply; `None` if nothing moves.
    pub(crate) fn promoted(&self, promotion: &Promotion) -> Option<Self> {
        let mut tree = self.clone();
        let Promotion { from, to, .. } = promotion;
        if !promotion.joins && tree.at(&[to]).is_none() {
            let Self::Map(members) = &mut tree else { return None };
            members.insert((*to).to_owned(), Self::empty());
        }
        let whole = promotion.elements.is_none();
        if whole
            && tree.at(&["uncategorized", from]).is_some()
            && tree.at(&[to, &promotion.name]).is_none()
            && let (Some(Self::Map(_)), Some(Self::Map(members))) =
                (self.at(&["uncategorized"]), tree.at_mut(&["uncategorized"]))
        {
            let value = members.remove(*from)?;
            if let Some(Self::Map(category)) = tree.at_mut(&[to]) {
                category.insert(promotion.name.clone(), value);
            } else {
                return None;
            }
        }
        for _ in 0..promotion.elements.unwrap_or(0) {
            if let (Some(Self::List(own)), Some(Self::List(_))) =
                (tree.at(&["uncategorized", from]), tree.at(&[to, from]))
                && !own.is_empty()
            {
                let Some(Self::List(own)) = tree.at_mut(&["uncategorized", from]) else { return None };
                let first = own.remove(0);
                if let Some(Self::List(there)) = tree.at_mut(&[to, from]) {
                    there.push(first);
                }
            }
        }
        if !whole
            && tree.at(&["uncategorized", from]) == Some(&Self::List(Vec::new()))
            && let Some(Self::Map(members)) = tree.at_mut(&["uncategorized"])
        {
            members.remove(*from);
        }
        if promotion.sweeps
            && tree.at(&["uncategorized"]) == Some(&Self::empty())
            && let Self::Map(members) = &mut tree
        {
            members.remove("uncategorized");
        }
        let gone = self.at(&["uncategorized", from]).is_some() && tree.at(&["uncategorized", from]).is_none();
        // An empty list has nothing to move and is removed.
        (gone || promotion.elements == Some(0)).then_some(tree)
    }

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

    /// The value at a path, created together with its parent maps if missing. A promoted category is created only by
    /// an edit that created it before.
    fn made(&mut self, path: &[&str], missing: Tree, makes_category: bool) -> Option<&mut Self> {
        let is_grown = |root: &&str| root.starts_with("grown") && self.at(&[root]).is_none();
        if !makes_category && path.first().is_some_and(is_grown) {
            return None;
        }
        let mut here = self;
        for (depth, step) in path.iter().enumerate() {
            let fresh = || if depth + 1 == path.len() { missing.clone() } else { Self::empty() };
            here = match here {
                Self::Map(members) => members.entry((*step).to_owned()).or_insert_with(fresh),
                Self::List(items) => items.get_mut(step.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(here)
    }

    /// The effect of setting a value at a path; `None` if that is impossible.
    pub(crate) fn set(&self, path: &Path, value: Tree) -> Option<Edited> {
        if let Some(old) = self.at(path) {
            let same = *old == value;
            let replaced = Edited::Replaced { path: path.clone(), old: old.clone(), new: value };
            return Some(if same { Edited::Nothing } else { replaced });
        }
        let depth = (0..path.len()).find(|&depth| self.at(&path[..=depth]).is_none())?;
        if let Self::List(items) = self.at(&path[..depth])? {
            let (name, below) = (path[depth], &path[depth + 1..]);
            let fits = below.is_empty() && (name == "-" || name.parse() == Ok(items.len()));
            return fits.then(|| Edited::Appended { list: path[..depth].to_vec(), value });
        }
        let Self::Map(_) = self.at(&path[..depth])? else { return None };
        match path.split_last()? {
            (&"-", list) => Some(Edited::Appended { list: list.to_vec(), value }),
            _ if path[depth + 1..].iter().any(|step| step.parse::<usize>().is_ok()) => None,
            _ => {
                let makes_category = self.at(&path[..1]).is_none();
                Some(Edited::Put { path: path.clone(), value, makes_category })
            }
        }
    }

    /// The effect of removing the value at a path.
    pub(crate) fn unset(&self, path: &Path) -> Option<Edited> {
        self.at(path).map(|old| Edited::Removed { path: path.clone(), old: old.clone() })
    }

    /// Applies an edit again; `None` if it does not apply.
    pub(crate) fn again(&self, edited: &Edited) -> Option<Self> {
        let mut tree = self.clone();
        match edited {
            Edited::Nothing => {}
            Edited::Put { path, value, makes_category } => {
                let (name, parent) = path.split_last()?;
                let Self::Map(members) = tree.made(parent, Self::empty(), *makes_category)? else { return None };
                if members.insert((*name).to_owned(), value.clone()).is_some() {
                    return None;
                }
            }
            Edited::Appended { list, value } => {
                let Self::List(items) = tree.made(list, Self::List(Vec::new()), false)? else { return None };
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
