//! What every tier of the hub stands on: configuration, telemetry, the database, NATS, gRPC and shutdown.
//! No rule of the protocol is decided here.

pub mod backoff;
pub mod config;
pub mod cpu;
pub mod db;
pub mod grpc;
pub mod health;
pub mod ids;
pub mod metrics;
pub mod migrate;
pub mod nats;
pub mod servers;
pub mod shutdown;
pub mod telemetry;
