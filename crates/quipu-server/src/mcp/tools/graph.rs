//! The nine tools of the reference memory server, on top of facts.
//!
//! An entity is anything that facts are about. Its type is a fact with the predicate `entity_type`, an observation a
//! fact with the predicate `observation`. A fact whose value is itself an entity is a relation; any other fact is
//! listed as an observation. Creations are recorded as an agent's, deletions are only proposed.

use std::collections::{BTreeMap, BTreeSet};

use quipu_core::event::SourceKind;
use quipu_core::id::ItemId;
use quipu_core::predicate::normal;
use quipu_engine::ready_made::FactIn;
use quipu_engine::{Error, FactOptions, FactShown, ProposedAction, Result, WriteRequest, facts, propose, users, write};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::call::Call;
use super::super::guest::Toolset;
use super::super::tool::Tool;
use super::asking::best;

const ENTITY_TYPE: &str = "entity_type";
const OBSERVATION: &str = "observation";
/// The type of an entity without one.
const UNKNOWN: &str = "unknown";
/// Facts used to answer a query.
const NEAREST: usize = 20;

pub(super) fn tools() -> Vec<Tool> {
    let all = vec![
        Tool::remarking(
            "create_entities",
            "Create entities",
            "Create entities of the knowledge graph, each with observations. Call it when you learn of a person, project or thing that will \
             matter again. Entities that are there already are left as they are.",
            create_entities,
        ),
        Tool::remarking(
            "create_relations",
            "Create relations",
            "Create relations between entities, in the active voice. Call it when you learn how two entities are connected.",
            create_relations,
        ),
        Tool::remarking(
            "add_observations",
            "Add observations",
            "Add observations to entities that are there. Call it when you learn something new of one.",
            add_observations,
        ),
        Tool::writing(
            "delete_entities",
            "Propose to delete entities",
            "Propose that entities be deleted with their relations. Call it when the user asks for it. Nothing goes before the user agrees.",
            delete_entities,
        ),
        Tool::writing(
            "delete_observations",
            "Propose to delete observations",
            "Propose that observations be deleted. Call it when one is wrong. Nothing goes before the user agrees.",
            delete_observations,
        ),
        Tool::writing(
            "delete_relations",
            "Propose to delete relations",
            "Propose that relations be deleted. Call it when one is wrong. Nothing goes before the user agrees.",
            delete_relations,
        ),
        Tool::reading(
            "read_graph",
            "Read the graph",
            "Read the whole knowledge graph. Call it only for a small memory; search_nodes finds what a question needs.",
            read_graph,
        ),
        Tool::reading(
            "search_nodes",
            "Search the graph",
            "Find entities by a question or by words of their names, types and observations. Call it before you answer about a person, \
             project or thing.",
            search_nodes,
        ),
        Tool::reading(
            "open_nodes",
            "Open entities",
            "Show entities by name. Call it when you know which ones you need.",
            open_nodes,
        ),
    ];
    all.into_iter().map(|tool| tool.of(Toolset::Graph)).collect()
}

/// An entity.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Entity {
    name: String,
    entity_type: String,
    observations: Vec<String>,
}

/// A relation.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Relation {
    from: String,
    to: String,
    relation_type: String,
}

/// Entities and the relations between them.
#[derive(Default, Serialize, JsonSchema)]
struct Graph {
    entities: Vec<Entity>,
    relations: Vec<Relation>,
}

/// A fact as a part of the graph.
struct Edge {
    id: ItemId,
    subject: String,
    predicate: String,
    object: String,
    text: String,
}

/// The active facts as a graph.
struct View {
    edges: Vec<Edge>,
    /// Normalised names of entities, each with its spelling.
    names: BTreeMap<String, String>,
}

impl View {
    fn of(call: &Call<'_>) -> Result<Self> {
        let held = match users(call.engine)?.contains(call.user()) {
            true => facts(call.engine, call.user(), &FactOptions::default())?,
            false => Vec::new(),
        };
        let edge = |FactShown { fact, .. }: FactShown| Edge {
            id: fact.id,
            subject: fact.subject,
            predicate: fact.predicate,
            object: fact.object,
            text: fact.text,
        };
        let edges: Vec<Edge> = held.into_iter().map(edge).collect();
        let names = edges.iter().map(|edge| (normal(&edge.subject), edge.subject.clone())).collect();
        Ok(Self { edges, names })
    }

    fn knows(&self, name: &str) -> bool {
        self.names.contains_key(&normal(name))
    }

    fn about(&self, name: &str) -> impl Iterator<Item = &Edge> {
        let name = normal(name);
        self.edges.iter().filter(move |edge| normal(&edge.subject) == name)
    }

    fn relation(&self, edge: &Edge) -> Option<Relation> {
        let to = self.names.get(&normal(&edge.object))?;
        let own = [ENTITY_TYPE, OBSERVATION].contains(&edge.predicate.as_str());
        let relation =
            || Relation { from: edge.subject.clone(), to: to.clone(), relation_type: edge.predicate.clone() };
        (!own).then(relation)
    }

    /// The observation of an edge, unless the edge is a type or a relation.
    fn observation<'a>(&self, edge: &'a Edge) -> Option<&'a str> {
        match edge.predicate.as_str() {
            ENTITY_TYPE => None,
            OBSERVATION => Some(&edge.object),
            _ if self.relation(edge).is_some() => None,
            _ => Some(&edge.text),
        }
    }

    fn entity(&self, name: &str) -> Option<Entity> {
        let name = self.names.get(&normal(name))?;
        let entity_type = self.about(name).find(|edge| edge.predicate == ENTITY_TYPE);
        Some(Entity {
            name: name.clone(),
            entity_type: entity_type.map_or(UNKNOWN, |edge| &edge.object).to_owned(),
            observations: self.about(name).filter_map(|edge| self.observation(edge)).map(str::to_owned).collect(),
        })
    }

    /// These entities, and the relations of any of them.
    fn part(&self, names: &BTreeSet<String>) -> Graph {
        let touches =
            |relation: &Relation| names.contains(&normal(&relation.from)) || names.contains(&normal(&relation.to));
        Graph {
            entities: names.iter().filter_map(|name| self.entity(name)).collect(),
            relations: self.edges.iter().filter_map(|edge| self.relation(edge)).filter(touches).collect(),
        }
    }
}

fn fact(subject: &str, predicate: &str, object: &str) -> FactIn {
    FactIn {
        subject: Some(subject.to_owned()),
        predicate: predicate.to_owned(),
        object: object.to_owned(),
        ..FactIn::default()
    }
}

/// Records facts as an agent's. Returns a remark about those that wait or were refused.
fn written(call: &Call<'_>, facts: Vec<FactIn>) -> Result<Option<String>> {
    if facts.is_empty() {
        return Ok(None);
    }
    let request = WriteRequest { facts, ..WriteRequest::default() };
    let report = write(call.engine, call.user(), &request, SourceKind::AssistantSaid)?;
    call.study(None);
    let waiting = report.understood.reviews.iter().map(|one| format!("waits for the user: {}", one.text));
    let refused = report.rejected.iter().map(|one| format!("not taken up: {} ({})", one.item, one.reason));
    let remarks: Vec<String> = waiting.chain(refused).collect();
    Ok((!remarks.is_empty()).then(|| remarks.join("\n")))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateEntities {
    entities: Vec<Entity>,
}

/// Entities.
#[derive(Serialize, JsonSchema)]
struct Entities {
    entities: Vec<Entity>,
}

fn create_entities(call: &Call<'_>, asked: CreateEntities) -> Result<(Entities, Option<String>)> {
    let view = View::of(call)?;
    let mut seen = BTreeSet::new();
    let new: Vec<Entity> = asked
        .entities
        .into_iter()
        .filter(|entity| !view.knows(&entity.name) && seen.insert(normal(&entity.name)))
        .collect();
    let mut all = Vec::new();
    for entity in &new {
        all.push(fact(&entity.name, ENTITY_TYPE, &entity.entity_type));
        all.extend(entity.observations.iter().map(|text| fact(&entity.name, OBSERVATION, text)));
    }
    let remark = written(call, all)?;
    Ok((Entities { entities: new }, remark))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RelationsIn {
    relations: Vec<Relation>,
}

/// Relations.
#[derive(Serialize, JsonSchema)]
struct Relations {
    relations: Vec<Relation>,
}

fn create_relations(call: &Call<'_>, asked: RelationsIn) -> Result<(Relations, Option<String>)> {
    let view = View::of(call)?;
    if let Some(unknown) = asked.relations.iter().flat_map(|one| [&one.from, &one.to]).find(|name| !view.knows(name)) {
        return Err(Error::NotFound(format!("there is no entity {unknown:?}: create it first")));
    }
    let known: Vec<Relation> = view.edges.iter().filter_map(|edge| view.relation(edge)).collect();
    let mut new: Vec<Relation> = Vec::new();
    for relation in asked.relations {
        if !known.contains(&relation) && !new.contains(&relation) {
            new.push(relation);
        }
    }
    let facts = new.iter().map(|one| fact(&one.from, &one.relation_type, &one.to)).collect();
    let remark = written(call, facts)?;
    Ok((Relations { relations: new }, remark))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Observed {
    entity_name: String,
    contents: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AddObservations {
    observations: Vec<Observed>,
}

/// What was added to an entity.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Added {
    entity_name: String,
    added_observations: Vec<String>,
}

/// What was added.
#[derive(Serialize, JsonSchema)]
struct Results {
    results: Vec<Added>,
}

fn add_observations(call: &Call<'_>, asked: AddObservations) -> Result<(Results, Option<String>)> {
    let view = View::of(call)?;
    let mut results = Vec::new();
    let mut all = Vec::new();
    for one in asked.observations {
        let missing = || Error::NotFound(format!("there is no entity {:?}: create it first", one.entity_name));
        let known = view.entity(&one.entity_name).ok_or_else(missing)?;
        let new: Vec<String> = one.contents.into_iter().filter(|text| !known.observations.contains(text)).collect();
        all.extend(new.iter().map(|text| fact(&known.name, OBSERVATION, text)));
        results.push(Added { entity_name: one.entity_name, added_observations: new });
    }
    let remark = written(call, all)?;
    Ok((Results { results }, remark))
}

/// Result of a proposed deletion.
#[derive(Serialize, JsonSchema)]
struct Deleted {
    /// False: nothing is deleted before the user agrees.
    success: bool,
    message: String,
}

/// Proposes to retract facts.
fn gone(call: &Call<'_>, ids: &BTreeSet<ItemId>) -> Result<Deleted> {
    for id in ids {
        propose(call.engine, call.user(), &id.to_string(), &ProposedAction::Gone, "an agent asked for it", "mcp")?;
    }
    let message = match ids.len() {
        0 => "Nothing fits: the graph has no such thing".to_owned(),
        many => format!("{many} deletions are proposed and wait for the user's review; the graph is as it was"),
    };
    Ok(Deleted { success: false, message })
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DeleteEntities {
    entity_names: Vec<String>,
}

fn delete_entities(call: &Call<'_>, asked: DeleteEntities) -> Result<Deleted> {
    let view = View::of(call)?;
    let names: BTreeSet<String> = asked.entity_names.iter().map(|name| normal(name)).collect();
    let touches = |edge: &&Edge| {
        names.contains(&normal(&edge.subject))
            || (view.relation(edge).is_some() && names.contains(&normal(&edge.object)))
    };
    gone(call, &view.edges.iter().filter(touches).map(|edge| edge.id).collect())
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Unobserved {
    entity_name: String,
    observations: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DeleteObservations {
    deletions: Vec<Unobserved>,
}

fn delete_observations(call: &Call<'_>, asked: DeleteObservations) -> Result<Deleted> {
    let view = View::of(call)?;
    let mut ids = BTreeSet::new();
    for one in &asked.deletions {
        let named =
            |edge: &&Edge| view.observation(edge).is_some_and(|text| one.observations.iter().any(|it| it == text));
        ids.extend(view.about(&one.entity_name).filter(named).map(|edge| edge.id));
    }
    gone(call, &ids)
}

fn delete_relations(call: &Call<'_>, asked: RelationsIn) -> Result<Deleted> {
    let view = View::of(call)?;
    let named = |edge: &&Edge| view.relation(edge).is_some_and(|relation| asked.relations.contains(&relation));
    gone(call, &view.edges.iter().filter(named).map(|edge| edge.id).collect())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoGraphArguments {}

fn read_graph(call: &Call<'_>, _: NoGraphArguments) -> Result<Graph> {
    let view = View::of(call)?;
    Ok(view.part(&view.names.keys().cloned().collect()))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Search {
    query: String,
}

fn search_nodes(call: &Call<'_>, asked: Search) -> Result<Graph> {
    let view = View::of(call)?;
    let words = asked.query.trim().to_lowercase();
    let has = |text: &str| text.to_lowercase().contains(&words);
    let fits = |edge: &&Edge| has(&edge.subject) || has(&edge.object) || has(&edge.text);
    let mut names: BTreeSet<String> = view.edges.iter().filter(fits).map(|edge| normal(&edge.subject)).collect();
    let found: BTreeSet<String> = best(call, &asked.query, NEAREST)?.into_iter().map(|hit| hit.id).collect();
    let near = view.edges.iter().filter(|edge| found.contains(&edge.id.to_string()));
    names.extend(near.map(|edge| normal(&edge.subject)));
    Ok(view.part(&names))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Open {
    names: Vec<String>,
}

fn open_nodes(call: &Call<'_>, asked: Open) -> Result<Graph> {
    let view = View::of(call)?;
    Ok(view.part(&asked.names.iter().map(|name| normal(name)).collect()))
}
