//! The gRPC contracts between the tiers. The `.proto` files beside this crate are the source; what is here is
//! generated from them, but for the times.

// Generated code keeps the style of its generator.
#![allow(missing_docs, unreachable_pub, clippy::pedantic)]

mod timestamp;

pub use prost_types::Timestamp;
pub use timestamp::{stamp, time_of};

pub use hub::common::v1 as common;
pub use hub::delivery::v1 as delivery;
pub use hub::lifecycle::v1 as lifecycle;
pub use hub::presence::v1 as presence;

// The packages refer to each other by their place in this tree.
mod hub {
    pub mod common {
        pub mod v1 {
            tonic::include_proto!("hub.common.v1");
        }
    }
    pub mod delivery {
        pub mod v1 {
            tonic::include_proto!("hub.delivery.v1");
        }
    }
    pub mod lifecycle {
        pub mod v1 {
            tonic::include_proto!("hub.lifecycle.v1");
        }
    }
    pub mod presence {
        pub mod v1 {
            tonic::include_proto!("hub.presence.v1");
        }
    }
}
