//! Steps for hits, episodes and the active index.

use quipu_core::id::UserId;
use quipu_engine::versions::When;
use quipu_engine::{ConsolidateOptions, RecallOptions, compact, flush_hits, keep_hits, recall, status, tell_episodes};

use super::steps::{Outcome, Step, same};
use super::words::LineRest;
use super::world::World;

pub(super) fn grow(world: &mut World, user: &UserId, verb: &str, words: &mut LineRest<'_>) -> Step {
    let engine = &world.engine;
    Ok(match verb {
        "asked" => {
            let options = RecallOptions { k: 1, ..RecallOptions::of(&words.quoted()?) };
            recall(engine, user, &options).map(drop)
        }
        "kept" => keep_hits(engine, user),
        "counted" => flush_hits(engine, user).map(drop),
        "told" => tell_episodes(engine, user).map(drop),
        _ => compact(engine, user, &ConsolidateOptions::default()).map(drop),
    })
}

pub(super) fn look(world: &World, user: &UserId, verb: &str, words: &mut LineRest<'_>) -> Outcome {
    match verb {
        "hits" => {
            let name = world.item_of(user, words.number()?);
            let items = world.items(user, When::Now);
            let item = items.iter().find(|item| item.id.to_string() == name).ok_or("the item is not there")?;
            same("how often it was shown", &item.hits.hits, &words.number()?)
        }
        _ => {
            let index = status(&world.engine, user).map_err(|error| error.to_string())?.active_index;
            let active = words.number()?;
            words.takes("of");
            same("the active index", &(index.active, index.items), &(active, words.number()?))
        }
    }
}
