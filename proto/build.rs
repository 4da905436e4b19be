//! Compiles the `.proto` files without a system `protoc`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let contracts = [
        "hub/common/v1.proto",
        "hub/lifecycle/v1.proto",
        "hub/delivery/v1.proto",
        "hub/presence/v1.proto",
    ];
    for contract in contracts {
        println!("cargo:rerun-if-changed={contract}");
    }
    let descriptors = protox::compile(contracts, ["."])?;
    tonic_prost_build::configure().compile_fds(descriptors)?;
    Ok(())
}
