"""The tables of a PostgreSQL store, and the statements on them.

Texts of states, events and records are of type `json`, which keeps them as they are, so that people can query them. An
append is one statement: it takes the session's next step if nobody else has taken it, and does all the rest only then.
"""

from __future__ import annotations

from adk_nb.events.apart import CALLS_APART

LAYOUT = "1"

TABLES = (
    "CREATE TABLE adk_nb_about (name text PRIMARY KEY, value text NOT NULL)",
    f"INSERT INTO adk_nb_about VALUES ('layout', '{LAYOUT}')",
    "CREATE TABLE adk_nb_app_states (app_name text PRIMARY KEY, state json NOT NULL)",
    """CREATE TABLE adk_nb_user_states (
        app_name text, user_id text, state json NOT NULL, PRIMARY KEY (app_name, user_id))""",
    """CREATE TABLE adk_nb_sessions (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        app_name text NOT NULL, user_id text NOT NULL, id text NOT NULL, state json NOT NULL,
        create_time double precision NOT NULL, update_time double precision NOT NULL,
        step bigint NOT NULL DEFAULT 0, writer text,
        UNIQUE (app_name, user_id, id))""",
    """CREATE TABLE adk_nb_events (
        session bigint NOT NULL REFERENCES adk_nb_sessions (number) ON DELETE CASCADE, step bigint NOT NULL,
        id text NOT NULL, invocation_id text NOT NULL, timestamp double precision NOT NULL, event_data json NOT NULL,
        PRIMARY KEY (session, step), UNIQUE (session, id))""",
    """CREATE TABLE adk_nb_runs (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        session bigint NOT NULL REFERENCES adk_nb_sessions (number) ON DELETE CASCADE, invocation_id text NOT NULL,
        path text NOT NULL, parent text NOT NULL, name text NOT NULL, status text NOT NULL, completed bigint,
        record json NOT NULL,
        UNIQUE (session, invocation_id, path))""",
    "CREATE INDEX adk_nb_runs_roots ON adk_nb_runs (session, number) WHERE parent = ''",
    "CREATE INDEX adk_nb_runs_open ON adk_nb_runs (session, invocation_id, number) WHERE status <> 'completed'",
    "CREATE INDEX adk_nb_runs_children ON adk_nb_runs (session, invocation_id, parent, number)",
    """CREATE INDEX adk_nb_runs_latest ON adk_nb_runs (session, invocation_id, parent, name, completed DESC)
        WHERE completed IS NOT NULL""",
    """CREATE TABLE adk_nb_held (
        session bigint NOT NULL, invocation_id text NOT NULL, join_path text NOT NULL,
        run bigint NOT NULL REFERENCES adk_nb_runs (number) ON DELETE CASCADE,
        PRIMARY KEY (session, invocation_id, join_path, run))""",
    "CREATE INDEX adk_nb_held_run ON adk_nb_held (run)",
    """CREATE TABLE adk_nb_questions (
        session bigint NOT NULL, interrupt_id text NOT NULL,
        run bigint NOT NULL REFERENCES adk_nb_runs (number) ON DELETE CASCADE,
        PRIMARY KEY (session, interrupt_id, run))""",
    "CREATE INDEX adk_nb_questions_run ON adk_nb_questions (run)",
    """CREATE TABLE adk_nb_locks (
        session bigint PRIMARY KEY REFERENCES adk_nb_sessions (number) ON DELETE CASCADE,
        host text NOT NULL, pid bigint NOT NULL, invocation_id text, since double precision NOT NULL)""",
)

_ONE = "app_name = :app_name AND user_id = :user_id AND id = :id"
_SHARED = """
    (SELECT state::text FROM adk_nb_app_states AS app WHERE app.app_name = session.app_name),
    (SELECT state::text FROM adk_nb_user_states AS own
        WHERE own.app_name = session.app_name AND own.user_id = session.user_id)
"""
CREATE = """
INSERT INTO adk_nb_sessions (app_name, user_id, id, state, create_time, update_time)
VALUES (:app_name, :user_id, :id, CAST(:state AS json), :now, :now)
ON CONFLICT DO NOTHING RETURNING number
"""
SESSION = (
    f"SELECT number, step, update_time, writer, state::text, {_SHARED} FROM adk_nb_sessions AS session WHERE {_ONE}"
)
VERSION = f"SELECT number, step, update_time, writer FROM adk_nb_sessions WHERE {_ONE}"
LIST = f"""
SELECT number, step, update_time, writer, state::text, {_SHARED}, user_id, id FROM adk_nb_sessions AS session
WHERE app_name = :app_name AND (CAST(:user_id AS text) IS NULL OR user_id = :user_id) ORDER BY update_time, number
"""
FIND = """
SELECT app_name, user_id, id, update_time FROM adk_nb_sessions
WHERE (CAST(:app_name AS text) IS NULL OR app_name = :app_name)
AND (CAST(:user_id AS text) IS NULL OR user_id = :user_id) AND (CAST(:id AS text) IS NULL OR id = :id)
"""
DELETE = f"DELETE FROM adk_nb_sessions WHERE {_ONE}"
STATE = "SELECT state::text FROM adk_nb_sessions WHERE number = :session"
USER_STATE = "SELECT state::text FROM adk_nb_user_states WHERE app_name = :app_name AND user_id = :user_id"
EVENT = "SELECT event_data::text FROM adk_nb_events WHERE session = :session AND id = :id"
EVENTS_AFTER = """
SELECT event_data::text FROM adk_nb_events WHERE session = :session AND step > :after AND step <= :step ORDER BY step
"""
EVENTS = """
SELECT event_data::text FROM adk_nb_events WHERE session = :session AND step <= :step
AND (CAST(:since AS double precision) IS NULL OR timestamp >= :since) ORDER BY step DESC LIMIT :count
"""
# Inserting what is there already locks the row and returns it, so that two changes at once are merged.
APP_STATE_TO_CHANGE = """
INSERT INTO adk_nb_app_states VALUES (:app_name, '{}')
ON CONFLICT (app_name) DO UPDATE SET state = adk_nb_app_states.state RETURNING state::text
"""
USER_STATE_TO_CHANGE = """
INSERT INTO adk_nb_user_states VALUES (:app_name, :user_id, '{}')
ON CONFLICT (app_name, user_id) DO UPDATE SET state = adk_nb_user_states.state RETURNING state::text
"""
PUT_APP_STATE = "UPDATE adk_nb_app_states SET state = CAST(:state AS json) WHERE app_name = :app_name"
PUT_USER_STATE = (
    "UPDATE adk_nb_user_states SET state = CAST(:state AS json) WHERE app_name = :app_name AND user_id = :user_id"
)

_APPEND = """
WITH moved AS (
    UPDATE adk_nb_sessions SET step = step + 1, update_time = :time, writer = :writer,
        state = coalesce(CAST(:state AS json), state)
    WHERE number = :session AND step = :step RETURNING number, step)
"""
_PUT_EVENT = """,
event AS (
    INSERT INTO adk_nb_events (session, step, id, invocation_id, timestamp, event_data)
    SELECT number, step, :event_id, :invocation_id, :timestamp, CAST(:event_data AS json) FROM moved)
"""
_TAKE_BACK = """,
back AS (
    DELETE FROM adk_nb_runs USING moved WHERE session = moved.number AND invocation_id IN (
        SELECT invocation_id FROM adk_nb_runs WHERE session = :session GROUP BY invocation_id
        HAVING min(number) >= (
            SELECT min(number) FROM adk_nb_runs WHERE session = :session AND invocation_id = :taken_back)))
"""
_PUT_RUNS = """,
run AS (
    INSERT INTO adk_nb_runs (session, invocation_id, path, parent, name, status, completed, record)
    SELECT moved.number, new.invocation_id, new.path, new.parent, new.name, new.status, new.completed, new.record::json
    FROM moved, unnest(CAST(:invocation_ids AS text[]), CAST(:paths AS text[]), CAST(:parents AS text[]),
        CAST(:names AS text[]), CAST(:statuses AS text[]), CAST(:completed AS bigint[]), CAST(:records AS text[]))
        WITH ORDINALITY AS new (invocation_id, path, parent, name, status, completed, record, place)
    ORDER BY new.place
    ON CONFLICT (session, invocation_id, path) DO UPDATE SET
        status = excluded.status, record = excluded.record,
        completed = CASE WHEN excluded.completed IS NULL THEN NULL
            ELSE coalesce(adk_nb_runs.completed, excluded.completed) END
    RETURNING number, session, invocation_id, path)
"""
_PUT_LINKS = """,
question AS (
    INSERT INTO adk_nb_questions
    SELECT run.session, asked.interrupt_id, run.number
    FROM run JOIN unnest(CAST(:asked_in AS text[]), CAST(:asked_at AS text[]), CAST(:asked AS text[]))
        AS asked (invocation_id, path, interrupt_id) USING (invocation_id, path)
    ON CONFLICT DO NOTHING),
held AS (
    INSERT INTO adk_nb_held
    SELECT run.session, run.invocation_id, taken.join_path, run.number
    FROM run JOIN unnest(CAST(:held_in AS text[]), CAST(:held_at AS text[]), CAST(:held_for AS text[]))
        AS taken (invocation_id, path, join_path) USING (invocation_id, path)
    ON CONFLICT DO NOTHING)
"""


def append_statement(*, has_event: bool, takes_back: bool, has_runs: bool, has_links: bool) -> str:
    """Return the statement of an append, which returns a row if the step was free.

    Args:
        has_event: An event is stored.
        takes_back: The event takes back the records of an invocation and of all that began later.
        has_runs: Records are stored.
        has_links: Some of them have questions, or are held for a join.
    """
    parts = [_APPEND, _PUT_EVENT * has_event, _TAKE_BACK * takes_back, _PUT_RUNS * has_runs, _PUT_LINKS * has_links]
    return "".join(parts) + "SELECT step FROM moved"


_OF_INVOCATION = "session = :session AND invocation_id = :invocation_id"
RUN_AT = f"SELECT record::text FROM adk_nb_runs WHERE {_OF_INVOCATION} AND path = :path"
CHILDREN = f"SELECT record::text FROM adk_nb_runs WHERE {_OF_INVOCATION} AND parent = :parent ORDER BY number"
ROOT = f"{CHILDREN} LIMIT 1"
NEWEST_ROOT = (
    "SELECT record::text FROM adk_nb_runs WHERE session = :session AND parent = '' ORDER BY number DESC LIMIT 1"
)
ROOTS = "SELECT record::text FROM adk_nb_runs WHERE session = :session AND parent = '' ORDER BY number"
ALL = f"SELECT record::text FROM adk_nb_runs WHERE {_OF_INVOCATION} ORDER BY number"
SAID = f"""
SELECT invocation_id, usage, count(*) FROM (
    SELECT invocation_id, (event_data -> 'usage_metadata')::text AS usage FROM adk_nb_events WHERE session = :session)
    AS said
GROUP BY invocation_id, usage
UNION ALL
SELECT invocation_id, coalesce((call -> 'usage')::text, '{{}}'), 0
FROM adk_nb_events, json_array_elements(event_data #> '{{custom_metadata,{CALLS_APART}}}') AS call
WHERE session = :session
"""
ASKING = """
SELECT record::text FROM adk_nb_questions JOIN adk_nb_runs ON number = run
WHERE adk_nb_questions.session = :session AND interrupt_id = :interrupt_id ORDER BY number DESC
"""
OPEN = f"""
SELECT record::text FROM adk_nb_runs WHERE number IN (
    SELECT number FROM adk_nb_runs WHERE {_OF_INVOCATION} AND status <> 'completed'
    UNION
    SELECT held.run FROM adk_nb_runs AS gathering JOIN adk_nb_held AS held ON held.join_path = gathering.path
        AND held.session = gathering.session AND held.invocation_id = gathering.invocation_id
    WHERE gathering.session = :session AND gathering.invocation_id = :invocation_id
        AND gathering.status <> 'completed' AND gathering.status = 'gathering')
ORDER BY number
"""
_NEXT_NAME = f"""
SELECT name, number, completed FROM adk_nb_runs
WHERE {_OF_INVOCATION} AND parent = :parent AND completed IS NOT NULL
"""
LATEST = f"""
WITH RECURSIVE latest AS (
    ({_NEXT_NAME} ORDER BY name, completed DESC LIMIT 1)
    UNION ALL
    SELECT following.* FROM latest, LATERAL (
        {_NEXT_NAME} AND name > latest.name ORDER BY name, completed DESC LIMIT 1) AS following)
SELECT run.record::text FROM latest JOIN adk_nb_runs AS run USING (number) ORDER BY latest.completed
"""
# The number of our table keeps the locks apart from those of other programs and schemas.
_LOCK = "(CAST('adk_nb_sessions'::regclass::oid::int8 % 2147483647 AS int), CAST(:session % 2147483647 AS int))"
TAKE_LOCK = f"SELECT pg_try_advisory_lock{_LOCK}"
GIVE_LOCK = f"SELECT pg_advisory_unlock{_LOCK}"
HOLDER = "SELECT host, pid, invocation_id, since FROM adk_nb_locks WHERE session = :session"
PUT_HOLDER = """
INSERT INTO adk_nb_locks VALUES (:session, :host, :pid, :invocation_id, :since)
ON CONFLICT (session) DO UPDATE SET host = :host, pid = :pid, invocation_id = :invocation_id, since = :since
"""
DROP_HOLDER = "DELETE FROM adk_nb_locks WHERE session = :session"
