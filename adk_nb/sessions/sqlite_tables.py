"""The tables of a session file, and how a file of google-adk or of an earlier version is brought to them.

A session is a row of `adk_nb_sessions` and its *steps*, numbered from 0: each append is one step, a single row that
holds the event and the records as they were handed in. Nothing else of the file changes with an append, not even an
index. Which record is where is *filed* later, many steps at a time (`sqlite_filing.py`). For google-adk and for people
who look into the file, `sessions` and `events` are views of these tables that can be written to.
"""

from __future__ import annotations

import sqlite3

LAYOUT = "2"

_ABOUT = "CREATE TABLE IF NOT EXISTS adk_nb_about (name TEXT PRIMARY KEY, value TEXT NOT NULL)"
_SHARED_STATES = """
CREATE TABLE IF NOT EXISTS app_states (app_name TEXT PRIMARY KEY, state TEXT NOT NULL, update_time REAL NOT NULL);
CREATE TABLE IF NOT EXISTS user_states (
    app_name TEXT NOT NULL, user_id TEXT NOT NULL, state TEXT NOT NULL, update_time REAL NOT NULL,
    PRIMARY KEY (app_name, user_id));
"""
_OWN_TABLES = """
-- Numbers are never given again, so that what a process knows of a deleted session fits no other one.
CREATE TABLE adk_nb_sessions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    app_name TEXT NOT NULL, user_id TEXT NOT NULL, id TEXT NOT NULL,
    state TEXT NOT NULL, create_time REAL NOT NULL, update_time REAL NOT NULL,
    filed INTEGER NOT NULL DEFAULT 0,
    UNIQUE (app_name, user_id, id));
-- Step k of session s has the number s * 2^32 + k. A step without an event has no event_id.
CREATE TABLE adk_nb_steps (
    number INTEGER PRIMARY KEY, time REAL NOT NULL, event_id TEXT, timestamp REAL, event_data TEXT, records TEXT);
CREATE TABLE adk_nb_invocations (
    number INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES adk_nb_sessions (number) ON DELETE CASCADE, invocation_id TEXT NOT NULL,
    UNIQUE (session, invocation_id));
-- The newest form of a record is line `line` of the records of step `step`.
CREATE TABLE adk_nb_runs (
    number INTEGER PRIMARY KEY,
    invocation INTEGER NOT NULL REFERENCES adk_nb_invocations (number) ON DELETE CASCADE,
    path TEXT NOT NULL, parent TEXT NOT NULL, name TEXT NOT NULL, status TEXT NOT NULL,
    is_open INTEGER NOT NULL, completed INTEGER, step INTEGER NOT NULL, line INTEGER NOT NULL,
    UNIQUE (invocation, path));
CREATE INDEX adk_nb_runs_order ON adk_nb_runs (invocation, is_open, parent, name, completed);
CREATE TABLE adk_nb_held (
    invocation INTEGER NOT NULL, join_path TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES adk_nb_runs (number) ON DELETE CASCADE,
    PRIMARY KEY (invocation, join_path, run)) WITHOUT ROWID;
CREATE INDEX adk_nb_held_run ON adk_nb_held (run);
CREATE TABLE adk_nb_questions (
    session INTEGER NOT NULL, interrupt_id TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES adk_nb_runs (number) ON DELETE CASCADE,
    PRIMARY KEY (session, interrupt_id, run)) WITHOUT ROWID;
CREATE INDEX adk_nb_questions_run ON adk_nb_questions (run);
CREATE TABLE adk_nb_locks (
    session INTEGER PRIMARY KEY REFERENCES adk_nb_sessions (number) ON DELETE CASCADE,
    host TEXT NOT NULL, pid INTEGER NOT NULL, process_start TEXT NOT NULL, invocation_id TEXT, since REAL NOT NULL);
CREATE TRIGGER adk_nb_session_new AFTER INSERT ON adk_nb_sessions BEGIN
    INSERT INTO adk_nb_steps (number, time) VALUES (NEW.number << 32, NEW.update_time); END;
CREATE TRIGGER adk_nb_session_gone AFTER DELETE ON adk_nb_sessions BEGIN
    DELETE FROM adk_nb_steps WHERE number >= OLD.number << 32 AND number < (OLD.number + 1) << 32; END;
"""
_ADK_VIEWS = """
CREATE VIEW sessions AS
    SELECT app_name, user_id, id, state, create_time,
        max(update_time, (SELECT time FROM adk_nb_steps AS last WHERE last.number = (
            SELECT max(number) FROM adk_nb_steps AS step WHERE step.number < (adk_nb_sessions.number + 1) << 32)))
        AS update_time,
        number AS rowid
    FROM adk_nb_sessions;
CREATE VIEW events AS
    SELECT step.event_id AS id, session.app_name, session.user_id, session.id AS session_id,
        json_extract(step.event_data, '$.invocation_id') AS invocation_id, step.timestamp,
        step.event_data, step.number AS rowid
    FROM adk_nb_sessions AS session JOIN adk_nb_steps AS step
        ON step.number > session.number << 32 AND step.number < (session.number + 1) << 32
    WHERE step.event_id IS NOT NULL;
CREATE TRIGGER adk_nb_sessions_insert INSTEAD OF INSERT ON sessions BEGIN
    INSERT INTO adk_nb_sessions (app_name, user_id, id, state, create_time, update_time)
    VALUES (NEW.app_name, NEW.user_id, NEW.id, NEW.state, NEW.create_time, NEW.update_time); END;
CREATE TRIGGER adk_nb_sessions_update INSTEAD OF UPDATE ON sessions BEGIN
    UPDATE adk_nb_sessions SET state = NEW.state, update_time = NEW.update_time
    WHERE app_name = OLD.app_name AND user_id = OLD.user_id AND id = OLD.id; END;
CREATE TRIGGER adk_nb_sessions_delete INSTEAD OF DELETE ON sessions BEGIN
    DELETE FROM adk_nb_sessions WHERE app_name = OLD.app_name AND user_id = OLD.user_id AND id = OLD.id; END;
CREATE TRIGGER adk_nb_events_insert INSTEAD OF INSERT ON events BEGIN
    SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed: no such session') WHERE NOT EXISTS (
        SELECT 1 FROM adk_nb_sessions WHERE app_name = NEW.app_name AND user_id = NEW.user_id AND id = NEW.session_id);
    SELECT RAISE(ABORT, 'UNIQUE constraint failed: events.id') WHERE EXISTS (
        SELECT 1 FROM events WHERE app_name = NEW.app_name AND user_id = NEW.user_id
        AND session_id = NEW.session_id AND id = NEW.id);
    INSERT INTO adk_nb_steps (number, time, event_id, timestamp, event_data)
    SELECT (SELECT 1 + max(step.number) FROM adk_nb_steps AS step WHERE step.number < (session.number + 1) << 32),
        NEW.timestamp, NEW.id, NEW.timestamp, NEW.event_data
    FROM adk_nb_sessions AS session
    WHERE app_name = NEW.app_name AND user_id = NEW.user_id AND id = NEW.session_id; END;
"""

_SET_ASIDE = """
DROP INDEX adk_nb_runs_order;
DROP INDEX adk_nb_questions_run;
ALTER TABLE adk_nb_questions RENAME TO adk_nb_old_questions;
ALTER TABLE adk_nb_runs RENAME TO adk_nb_old_runs;
ALTER TABLE adk_nb_invocations RENAME TO adk_nb_old_invocations;
ALTER TABLE adk_nb_locks RENAME TO adk_nb_old_locks;
"""
_MOVE_SESSIONS = """
INSERT INTO adk_nb_sessions (app_name, user_id, id, state, create_time, update_time)
    SELECT app_name, user_id, id, state, create_time, update_time FROM sessions ORDER BY rowid;
INSERT INTO adk_nb_steps (number, time, event_id, timestamp, event_data)
    SELECT (session.number << 32) + row_number() OVER (PARTITION BY session.number ORDER BY event.rowid),
        event.timestamp, event.id, event.timestamp, event.event_data
    FROM events AS event JOIN adk_nb_sessions AS session
        ON session.app_name = event.app_name AND session.user_id = event.user_id AND session.id = event.session_id;
"""
# A record becomes a step of its own. Completions are counted anew, below the numbers that new ones get.
_MOVE_RECORDS = """
CREATE TEMP TABLE adk_nb_moved AS
    SELECT old.number AS run, old.invocation, session.number AS session,
        (SELECT max(step.number) FROM adk_nb_steps AS step WHERE step.number < (session.number + 1) << 32)
        + row_number() OVER (PARTITION BY session.number ORDER BY old.number) AS step
    FROM adk_nb_old_runs AS old JOIN adk_nb_old_invocations AS invocation ON invocation.number = old.invocation
    JOIN adk_nb_sessions AS session ON session.app_name = invocation.app_name
        AND session.user_id = invocation.user_id AND session.id = invocation.session_id;
INSERT INTO adk_nb_invocations SELECT old.number, session.number, old.invocation_id
    FROM adk_nb_old_invocations AS old JOIN adk_nb_sessions AS session ON session.app_name = old.app_name
        AND session.user_id = old.user_id AND session.id = old.session_id;
INSERT INTO adk_nb_steps (number, time, records)
    SELECT moved.step, session.update_time, old.record
    FROM adk_nb_moved AS moved JOIN adk_nb_old_runs AS old ON old.number = moved.run
    JOIN adk_nb_sessions AS session ON session.number = moved.session;
INSERT INTO adk_nb_runs
    SELECT old.number, old.invocation, old.path, old.parent, old.name, old.status, old.status <> 'completed',
        CASE WHEN old.completed IS NOT NULL
            THEN row_number() OVER (PARTITION BY old.invocation ORDER BY old.completed) END,
        moved.step, 0
    FROM adk_nb_old_runs AS old JOIN adk_nb_moved AS moved ON moved.run = old.number;
INSERT INTO adk_nb_held
    SELECT old.invocation, taken.value, old.number
    FROM adk_nb_old_runs AS old, json_each(old.record, '$.held_for') AS taken WHERE old.status = 'completed';
INSERT INTO adk_nb_questions
    SELECT moved.session, old.interrupt_id, old.run
    FROM adk_nb_old_questions AS old JOIN adk_nb_moved AS moved ON moved.run = old.run;
INSERT INTO adk_nb_locks
    SELECT session.number, old.host, old.pid, old.process_start, old.invocation_id, old.since
    FROM adk_nb_old_locks AS old JOIN adk_nb_sessions AS session ON session.app_name = old.app_name
        AND session.user_id = old.user_id AND session.id = old.session_id;
UPDATE adk_nb_sessions SET filed = (SELECT max(number) FROM adk_nb_steps AS step
    WHERE step.number < (adk_nb_sessions.number + 1) << 32);
DROP TABLE adk_nb_moved;
DROP TABLE adk_nb_old_questions;
DROP TABLE adk_nb_old_runs;
DROP TABLE adk_nb_old_invocations;
DROP TABLE adk_nb_old_locks;
"""
# Children before their parents: a dropped parent takes the rows of its children along.
_DROP_ADK_TABLES = """
DROP TABLE events;
DROP TABLE sessions;
"""


def layout_of(connection: sqlite3.Connection) -> str | None:
    """Return the layout of a file that adk_nb has written to, `None` for any other."""
    if not _exists(connection, "adk_nb_about"):
        return None
    row = connection.execute("SELECT value FROM adk_nb_about WHERE name = 'layout'").fetchone()
    return None if row is None else str(row[0])


def bring_up_to_date(connection: sqlite3.Connection) -> None:
    """Make the tables, or move what is stored in google-adk's or in an earlier layout; inside a write transaction."""
    layout = layout_of(connection)
    if layout == LAYOUT:
        return
    is_moving = _exists(connection, "sessions")
    _run(connection, _ABOUT, _SHARED_STATES)
    if layout is not None:
        _run(connection, _SET_ASIDE)
    _run(connection, _OWN_TABLES)
    if is_moving:
        _run(connection, _MOVE_SESSIONS)
    if layout is not None:
        _run(connection, _MOVE_RECORDS)
    if is_moving:
        _run(connection, _DROP_ADK_TABLES)
    _run(connection, _ADK_VIEWS)
    connection.execute("INSERT OR REPLACE INTO adk_nb_about VALUES ('layout', ?)", (LAYOUT,))


def _exists(connection: sqlite3.Connection, table: str) -> bool:
    found = connection.execute("SELECT 1 FROM sqlite_master WHERE name = ? AND type IN ('table', 'view')", (table,))
    return found.fetchone() is not None


def _run(connection: sqlite3.Connection, *scripts: str) -> None:
    """Execute scripts inside the present transaction, which `executescript` would commit."""
    for script in scripts:
        statement = ""
        for line in script.splitlines(keepends=True):
            statement += line
            if sqlite3.complete_statement(statement):
                connection.execute(statement)
                statement = ""
        if statement.strip():
            connection.execute(statement)
