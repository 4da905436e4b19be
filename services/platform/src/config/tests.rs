use super::Config;
