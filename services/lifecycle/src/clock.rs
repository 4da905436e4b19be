//! Times between PostgreSQL and gRPC. None is made here: PostgreSQL's clock is the only one (design rule 1).

pub(crate) use hub_proto::{stamp as timestamp, time_of as time};
