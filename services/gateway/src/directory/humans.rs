//! The people of an account.

use hub_platform::db::{self, Pool};
use ma2h::error::{ErrorCode, Problem};
use time::OffsetDateTime;
use tokio_postgres::Row;

use super::{Author, Statement, column, made, page, row, rows, taken};
use crate::edge::fields::Patched;
use crate::edge::page::Page;
use crate::principal::Role;

const CREATE: Statement = ("create human", include_str!("humans/create.sql"));
const LIST: Statement = ("list humans", include_str!("humans/list.sql"));
const UPDATE: Statement = ("update human", include_str!("humans/update.sql"));
const DELETE: Statement = ("delete human", include_str!("humans/delete.sql"));

pub(super) const STATEMENTS: &[Statement] = &[CREATE, LIST, UPDATE, DELETE];

/// A human as she is stored.
#[derive(Debug)]
pub(crate) struct Human {
    pub(crate) id: String,
    pub(crate) email: Option<String>,
    pub(crate) role: Role,
    pub(crate) created_at: OffsetDateTime,
}

/// Adds a human, or 404 without the account, 409 with one of her id.
pub(crate) async fn create(
    pool: &Pool,
    author: &Author,
    account: &str,
    id: &str,
    email: Option<&str>,
    role: Role,
) -> Result<Human, Problem> {
    let created = row(
        pool,
        CREATE,
        &[
            &account,
            &id,
            &email,
            &role.as_str(),
            &Author::event(),
            &author.actor,
        ],
    )
    .await?;
    read(made(created.as_ref(), "human")?.ok_or_else(|| taken("a human"))?)
}

/// A page of the account's humans, one more than the page where others follow.
pub(crate) async fn list(pool: &Pool, account: &str, wanted: &Page) -> Result<Vec<Human>, Problem> {
    let found = rows(pool, LIST, &[&account, &wanted.after, &wanted.rows()]).await?;
    page(&found, "human", read)
}

/// Changes the e-mail address as its patch says, and the role where one is given. 404 without her, 409 where the account
/// would lose its last owner.
pub(crate) async fn update(
    pool: &Pool,
    author: &Author,
    account: &str,
    id: &str,
    email: &Patched<String>,
    role: Option<Role>,
) -> Result<Human, Problem> {
    let role = role.map(Role::as_str);
    let changes_email = *email != Patched::Kept;
    let email = email.clone().value();
    let updated = row(
        pool,
        UPDATE,
        &[
            &account,
            &id,
            &changes_email,
            &email,
            &role,
            &Author::event(),
            &author.actor,
            &keeps_an_owner(author),
        ],
    )
    .await?;
    read(there(updated.as_ref())?)
}

/// Removes a human and ends her credentials. 404 without her, 409 where the account would lose its last owner.
pub(crate) async fn delete(pool: &Pool, author: &Author, account: &str, id: &str) -> Result<(), Problem> {
    let gone = row(
        pool,
        DELETE,
        &[
            &account,
            &id,
            &Author::event(),
            &author.actor,
            &keeps_an_owner(author),
        ],
    )
    .await?;
    there(gone.as_ref()).map(drop)
}

/// Whether somebody must be left who may manage the account: the deployment's admin can name an owner at any time, the
/// people of the account could not.
fn keeps_an_owner(author: &Author) -> bool {
    author.actor.starts_with("human:")
}

fn there(row: Option<&Row>) -> Result<&Row, Problem> {
    let row = row.ok_or_else(Problem::not_found)?;
    if column(row, "is_last")? {
        let message = "role: the account would be without an owner; name another first";
        return Err(Problem::new(ErrorCode::Conflict, message));
    }
    // Removed by a call that came in between.
    column::<Option<&str>>(row, "human")?.ok_or_else(Problem::not_found)?;
    Ok(row)
}

fn read(row: &Row) -> Result<Human, Problem> {
    Ok(Human {
        id: column(row, "human")?,
        email: column(row, "email")?,
        role: role(column(row, "role")?)?,
        created_at: column(row, "created_at")?,
    })
}

/// A role as the table has it.
pub(super) fn role(text: &str) -> Result<Role, Problem> {
    text.parse()
        .map_err(|()| db::report(&db::Error::corrupt("humans.role")))
}
