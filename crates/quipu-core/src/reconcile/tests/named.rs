//! Updates that name what they are about: over, allowed again.

use super::world::{World, claim};
use crate::event::SourceKind;
use crate::extract::{CONSTRAINT, Extraction, REMARK, Stance, UpdateCandidate, UpdateNews};
use crate::item::FactStatus;

fn tell(world: &mut World, text: &str, news: UpdateNews, what: &str) {
    let update = UpdateCandidate { what: what.to_owned(), news, span: 0..text.len(), day: None, confidence: 0.9 };
    let found = Extraction { updates: vec![update], ..Extraction::default() };
    world.hears_text("2025-06-01", SourceKind::UserSaid, text, found);
}

#[test]
fn what_is_over_ends_facts_and_the_remark_that_name_it() {
    let mut world = World::new();
    let band = "in a band called Wet Socks, i do drums";
    let other = "the socks i knit are for the twins";
    for text in [band, other] {
        world.says("2025-03-01", claim(REMARK, text, Stance::Holds));
    }
    world.says("2025-03-01", claim("hobby", "drums in Wet Socks", Stance::Holds));
    tell(&mut world, "wet socks is dead", UpdateNews::Over, "wet socks");
    assert_eq!(world.objects(REMARK, FactStatus::Superseded), [band]);
    assert_eq!(world.objects(REMARK, FactStatus::Active), [other]);
    assert_eq!(world.active("hobby"), Vec::<String>::new());
}

#[test]
fn what_several_remarks_name_ends_none() {
    let mut world = World::new();
    for number in 1..3 {
        world.says("2025-03-01", claim(REMARK, &format!("took the dog to place {number}"), Stance::Holds));
    }
    tell(&mut world, "no more dog", UpdateNews::Over, "dog");
    assert_eq!(world.objects(REMARK, FactStatus::Superseded), Vec::<String>::new());
}

#[test]
fn what_is_allowed_again_ends_instructions_against_it_and_nothing_else() {
    let mut world = World::new();
    let never = "never suggest tea to me";
    let short = "always keep answers short";
    let with_tea = "always suggest a tea with the cake";
    for text in [never, short, with_tea] {
        world.says("2025-03-01", claim(CONSTRAINT, text, Stance::Holds));
    }
    world.says("2025-03-01", claim("likes", "green tea", Stance::Holds));
    world.says("2025-03-01", claim(REMARK, "mum sent me tea from Assam", Stance::Holds));
    tell(&mut world, "you may suggest teas", UpdateNews::Allowed, "teas");
    assert_eq!(world.active(CONSTRAINT), [short, with_tea]);
    assert_eq!(world.active("likes"), ["green tea"]);
    assert_eq!(world.objects(REMARK, FactStatus::Active).len(), 1);
}
