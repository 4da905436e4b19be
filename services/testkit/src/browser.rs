//! A real browser, driven through WebDriver: each test has one of its own, with an empty profile.

use std::process::Stdio;
use std::time::Duration;

use fantoccini::elements::Element;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::eventually::DEADLINE;

const DRIVER: &str = "chromedriver";
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// What `chromedriver` says once it listens, before the port and a full stop.
const LISTENS: &str = "was started successfully on port ";

/// How often another driver is started.
const STARTS_MAX: usize = 5;

/// A running browser; dropped, it ends with its driver.
pub struct Browser {
    page: Client,
    _driver: Driver,
    _profile: TempDir,
}

/// `chromedriver` with the browser it started: they share a process group, and end together.
struct Driver(Child);

impl Drop for Driver {
    fn drop(&mut self) {
        let pid = self.0.id().and_then(|pid| i32::try_from(pid).ok());
        if let Some(pid) = pid.and_then(Pid::from_raw) {
            kill_process_group(pid, Signal::KILL).ok();
        }
    }
}

impl Browser {
    /// Starts one with a window of this size, in pixels.
    pub async fn start(width: u32, height: u32) -> Self {
        Self::launch(width, height, true).await
    }

    /// Starts one that runs no JavaScript.
    pub async fn without_javascript() -> Self {
        Self::launch(1280, 900, false).await
    }

    async fn launch(width: u32, height: u32, javascript: bool) -> Self {
        let (driver, port) = start_driver().await;
        let profile = tempfile::tempdir().expect("make a folder for the profile");
        let capabilities = capabilities(&profile, width, height, javascript);
        let Value::Object(capabilities) = capabilities else {
            unreachable!("an object by construction")
        };
        let page = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities)
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .expect("start the browser");
        Self {
            page,
            _driver: driver,
            _profile: profile,
        }
    }

    /// The page, for what is not below.
    pub fn page(&self) -> &Client {
        &self.page
    }

    /// Opens an address.
    pub async fn open(&self, url: &str) {
        self.page
            .goto(url)
            .await
            .unwrap_or_else(|error| panic!("open {url}: {error}"));
    }

    /// Waits for the first element that fits a CSS selector.
    pub async fn find(&self, selector: &str) -> Element {
        let wait = self
            .page
            .wait()
            .at_most(DEADLINE)
            .every(Duration::from_millis(50));
        let found = wait.for_element(Locator::Css(selector)).await;
        found.unwrap_or_else(|error| panic!("no {selector}: {error}"))
    }

    /// Waits for an element and clicks it.
    pub async fn click(&self, selector: &str) {
        let element = self.find(selector).await;
        element
            .click()
            .await
            .unwrap_or_else(|error| panic!("click {selector}: {error}"));
    }

    /// Waits for an element and types into it.
    pub async fn fill(&self, selector: &str, text: &str) {
        let element = self.find(selector).await;
        element
            .send_keys(text)
            .await
            .unwrap_or_else(|error| panic!("fill {selector}: {error}"));
    }

    /// Types to whatever has the focus, as a person at the keyboard does.
    pub async fn press(&self, keys: &str) {
        let focused = self.page.active_element().await.expect("something has the focus");
        focused
            .send_keys(keys)
            .await
            .unwrap_or_else(|error| panic!("press {keys:?}: {error}"));
    }

    /// Waits until the page says something.
    pub async fn await_text(&self, text: &str) {
        crate::eventually(&format!("the page to say {text:?}"), || async {
            self.text().await.contains(text).then_some(())
        })
        .await;
    }

    /// What the page says.
    pub async fn text(&self) -> String {
        let text = self.script("return document.body.innerText").await;
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Runs a script and returns what it returns; `null` while the page is changing.
    pub async fn script(&self, script: &str) -> Value {
        self.page.execute(script, Vec::new()).await.unwrap_or(Value::Null)
    }

    /// The path that is open.
    pub async fn path(&self) -> String {
        self.page
            .current_url()
            .await
            .expect("a page is open")
            .path()
            .to_owned()
    }
}

/// It listens on a free port of IPv4, and then on the same one of IPv6: where another has taken that meanwhile it ends, and
/// another is started.
async fn start_driver() -> (Driver, u16) {
    for _ in 0..STARTS_MAX {
        if let Some(started) = try_start_driver().await {
            return started;
        }
    }
    panic!("{DRIVER} ended {STARTS_MAX} times before it listened");
}

async fn try_start_driver() -> Option<(Driver, u16)> {
    let mut driver = Command::new(DRIVER)
        .arg("--port=0")
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_or_else(
            |error| panic!("start {DRIVER} (`make test` installs it): {error}"),
            Driver,
        );
    let mut lines = BufReader::new(driver.0.stdout.take().expect("its output is piped")).lines();
    let port = async {
        while let Some(line) = lines.next_line().await.expect("read what the driver says") {
            if let Some((_, port)) = line.split_once(LISTENS) {
                return Some(port.trim_end_matches('.').parse().expect("a port"));
            }
            eprintln!("{DRIVER}: {line}");
        }
        None
    };
    let port = tokio::time::timeout(DEADLINE, port)
        .await
        .expect("the driver listens in time")?;
    // Goes on reading, so that the driver never waits for room to say something.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    Some((driver, port))
}

fn capabilities(profile: &TempDir, width: u32, height: u32, javascript: bool) -> Value {
    let mut arguments: Vec<String> = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
    ]
    .map(str::to_owned)
    .to_vec();
    arguments.push(format!("--window-size={width},{height}"));
    arguments.push(format!("--user-data-dir={}", profile.path().display()));
    // 1 allows it, 2 does not.
    let javascript = if javascript { 1 } else { 2 };
    json!({
        "acceptInsecureCerts": true,
        "goog:chromeOptions": {
            "args": arguments,
            "binary": browser(),
            "prefs": {"profile.managed_default_content_settings.javascript": javascript},
        },
    })
}

fn browser() -> String {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = BROWSERS.iter().find_map(|name| {
        let mut places = std::env::split_paths(&path).map(|folder| folder.join(name));
        places.find(|place| place.is_file())
    });
    found
        .unwrap_or_else(|| panic!("no chromium on PATH; `make test` installs it"))
        .display()
        .to_string()
}
