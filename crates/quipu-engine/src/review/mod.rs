//! The review queue: proposals of agents, a person's decisions, and decisions passed on by an agent.

pub(crate) mod delegated;
pub(crate) mod propose;
pub(crate) mod queue;
