CREATE TABLE adk_nb_about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO "adk_nb_about" VALUES('layout','1');
CREATE TABLE adk_nb_invocations (
    number INTEGER PRIMARY KEY,
    app_name TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL, invocation_id TEXT NOT NULL,
    UNIQUE (app_name, user_id, session_id, invocation_id),
    FOREIGN KEY (app_name, user_id, session_id) REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE);
INSERT INTO "adk_nb_invocations" VALUES(1,'app','ada','first','e-1');
INSERT INTO "adk_nb_invocations" VALUES(2,'app','ada','first','e-2');
CREATE TABLE adk_nb_locks (
    app_name TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL,
    host TEXT NOT NULL, pid INTEGER NOT NULL, process_start TEXT NOT NULL, invocation_id TEXT, since REAL NOT NULL,
    PRIMARY KEY (app_name, user_id, session_id),
    FOREIGN KEY (app_name, user_id, session_id) REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE);
CREATE TABLE adk_nb_questions (
    app_name TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL, interrupt_id TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES adk_nb_runs (number) ON DELETE CASCADE,
    PRIMARY KEY (app_name, user_id, session_id, interrupt_id, run)) WITHOUT ROWID;
INSERT INTO "adk_nb_questions" VALUES('app','ada','first','q',6);
CREATE TABLE adk_nb_runs (
    number INTEGER PRIMARY KEY,
    invocation INTEGER NOT NULL REFERENCES adk_nb_invocations (number) ON DELETE CASCADE,
    path TEXT NOT NULL, parent TEXT NOT NULL, name TEXT NOT NULL, status TEXT NOT NULL,
    is_open INTEGER NOT NULL, completed REAL, record TEXT NOT NULL,
    UNIQUE (invocation, path));
INSERT INTO "adk_nb_runs" VALUES(1,1,'wf@1','','wf','waiting',1,NULL,'{"path":"wf@1","name":"wf","run_id":"1","parent":"","invocation_id":"e-1","status":"waiting"}');
INSERT INTO "adk_nb_runs" VALUES(2,1,'wf@1/loop@1','wf@1','loop','completed',0,1.79608085236566519739e+09,'{"path":"wf@1/loop@1","name":"loop","run_id":"1","parent":"wf@1","invocation_id":"e-1","input":1,"output":{"$adk_nb":"tuple","v":[{"$adk_nb":"date","v":"2026-02-28"}]},"status":"completed"}');
INSERT INTO "adk_nb_runs" VALUES(3,1,'wf@1/loop@2','wf@1','loop','completed',0,1.79608085236566567422e+09,'{"path":"wf@1/loop@2","name":"loop","run_id":"2","parent":"wf@1","invocation_id":"e-1","input":2,"output":2,"status":"completed"}');
INSERT INTO "adk_nb_runs" VALUES(4,1,'wf@1/held@1','wf@1','held','completed',1,1.79608085236566615105e+09,'{"path":"wf@1/held@1","name":"held","run_id":"1","parent":"wf@1","invocation_id":"e-1","output":"kept","held_for":["wf@1/join@1"],"status":"completed"}');
INSERT INTO "adk_nb_runs" VALUES(5,1,'wf@1/join@1','wf@1','join','gathering',1,NULL,'{"path":"wf@1/join@1","name":"join","run_id":"1","parent":"wf@1","invocation_id":"e-1","status":"gathering"}');
INSERT INTO "adk_nb_runs" VALUES(6,1,'wf@1/ask@1','wf@1','ask','waiting',1,NULL,'{"path":"wf@1/ask@1","name":"ask","run_id":"1","parent":"wf@1","invocation_id":"e-1","status":"waiting","questions":[{"interrupt_id":"q","message":"Sure?","payload":null,"response_schema":null,"asked_at":0.0,"is_named":true,"is_answered":false,"answer":null,"answered_at":null}]}');
INSERT INTO "adk_nb_runs" VALUES(7,2,'wf@1','','wf','completed',0,1.79608085236566662789e+09,'{"path":"wf@1","name":"wf","run_id":"1","parent":"","invocation_id":"e-2","status":"completed"}');
CREATE TABLE app_states (app_name TEXT PRIMARY KEY, state TEXT NOT NULL, update_time REAL NOT NULL);
INSERT INTO "app_states" VALUES('app','{"v":2}',1.79608085236566448212e+09);
CREATE TABLE events (
    id TEXT NOT NULL, app_name TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL,
    invocation_id TEXT NOT NULL, timestamp REAL NOT NULL, event_data TEXT NOT NULL,
    PRIMARY KEY (app_name, user_id, session_id, id),
    FOREIGN KEY (app_name, user_id, session_id) REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE);
INSERT INTO "events" VALUES('b-0','app','bob','first','',1.0,'{"content":{"parts":[{"text":"bob''s"}],"role":"user"},"invocation_id":"","author":"user","node_info":{"path":""},"id":"b-0","timestamp":1.0}');
INSERT INTO "events" VALUES('u-1','app','ada','first','e-1',1000.0,'{"content":{"parts":[{"text":"hello"}],"role":"user"},"invocation_id":"e-1","author":"user","node_info":{"path":""},"id":"u-1","timestamp":1000.0}');
INSERT INTO "events" VALUES('l-1','app','ada','first','e-1',1001.0,'{"invocation_id":"e-1","author":"wf","actions":{"state_delta":{"a":2,"day":{"$adk_nb":"date","v":"2026-02-28"}},"artifact_delta":{},"requested_auth_configs":{},"requested_tool_confirmations":{}},"output":{"$adk_nb":"tuple","v":[{"$adk_nb":"date","v":"2026-02-28"}]},"node_info":{"path":""},"id":"l-1","timestamp":1001.0}');
INSERT INTO "events" VALUES('l-2','app','ada','first','e-1',1000.5,'{"invocation_id":"e-1","author":"wf","output":2,"node_info":{"path":""},"id":"l-2","timestamp":1000.5}');
INSERT INTO "events" VALUES('u-2','app','ada','first','e-2',1002.0,'{"content":{"parts":[{"text":"again"}],"role":"user"},"invocation_id":"e-2","author":"user","node_info":{"path":""},"id":"u-2","timestamp":1002.0}');
CREATE TABLE sessions (
    app_name TEXT NOT NULL, user_id TEXT NOT NULL, id TEXT NOT NULL,
    state TEXT NOT NULL, create_time REAL NOT NULL, update_time REAL NOT NULL,
    PRIMARY KEY (app_name, user_id, id));
INSERT INTO "sessions" VALUES('app','ada','first','{"a":2,"day":{"$adk_nb":"date","v":"2026-02-28"}}',1.79608085236566448212e+09,1.79608085236566686632e+09);
INSERT INTO "sessions" VALUES('app','bob','first','{}',1.79608085236906552311e+09,1.79608085236906576151e+09);
INSERT INTO "sessions" VALUES('app','ada','empty','{}',1.7960808523729367256e+09,1.7960808523729367256e+09);
CREATE TABLE user_states (
    app_name TEXT NOT NULL, user_id TEXT NOT NULL, state TEXT NOT NULL, update_time REAL NOT NULL,
    PRIMARY KEY (app_name, user_id));
INSERT INTO "user_states" VALUES('app','ada','{"lang":"en"}',1.79608085236566448212e+09);
CREATE INDEX adk_nb_runs_order ON adk_nb_runs (invocation, is_open, parent, name, completed);
CREATE INDEX adk_nb_questions_run ON adk_nb_questions (run);
