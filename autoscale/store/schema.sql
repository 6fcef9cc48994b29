-- Times are nanoseconds since 1970 in UTC; NULL is no time. Money and rates are
-- nano US dollars, per hour for rates.

CREATE TABLE fleet (
	one     INTEGER PRIMARY KEY CHECK (one = 1),
	id      TEXT    NOT NULL,
	epoch   INTEGER NOT NULL,
	round   INTEGER NOT NULL,
	version INTEGER NOT NULL
) STRICT;

CREATE TABLE offerings (
	id          INTEGER PRIMARY KEY,
	cloud       TEXT NOT NULL,
	account     TEXT NOT NULL,
	region      TEXT NOT NULL,
	zone        TEXT NOT NULL,
	type        TEXT NOT NULL,
	market      TEXT NOT NULL,
	reservation TEXT NOT NULL,
	UNIQUE (cloud, account, region, zone, type, market, reservation)
) STRICT;

CREATE TABLE jobs (
	id         TEXT    PRIMARY KEY,
	team       TEXT    NOT NULL,
	family     TEXT    NOT NULL,
	submitted  INTEGER,
	document   TEXT    NOT NULL, -- the job as JSON; it never changes
	phase      INTEGER NOT NULL,
	generation INTEGER NOT NULL,
	gang       TEXT,             -- JSON; NULL: none
	begun      INTEGER,          -- the gang was handed to the runner
	running    INTEGER,          -- its first progress
	stopped    INTEGER,          -- it was told to stop
	stopping   INTEGER NOT NULL, -- how
	target     TEXT,             -- JSON; NULL: none
	safe       REAL    NOT NULL,
	seen       REAL    NOT NULL,
	seen_at    INTEGER,
	waiting    INTEGER,
	held       INTEGER NOT NULL, -- nanoseconds
	started    INTEGER,
	ended      INTEGER,
	restarts   INTEGER NOT NULL,
	losses     INTEGER NOT NULL,
	failures   INTEGER NOT NULL,
	spent      INTEGER NOT NULL, -- nano dollars booked to it
	measured   TEXT,             -- JSON; NULL: nothing was
	claims     TEXT,             -- JSON; NULL: it has none
	claimed_at INTEGER,          -- what claims are due up to
	lease      INTEGER,          -- it keeps its target until then
	place      TEXT              -- JSON: the offering that it ran on last; NULL: it never ran
) STRICT;
CREATE INDEX jobs_live ON jobs (id) WHERE ended IS NULL OR gang IS NOT NULL;

CREATE TABLE intents (
	token     TEXT    PRIMARY KEY,
	epoch     INTEGER NOT NULL,
	round     INTEGER NOT NULL,
	offering  INTEGER NOT NULL REFERENCES offerings,
	count     INTEGER NOT NULL,
	min       INTEGER NOT NULL,
	rate      INTEGER NOT NULL,
	reason    TEXT    NOT NULL,
	created   INTEGER,
	state     INTEGER NOT NULL,
	instances TEXT    NOT NULL, -- JSON
	error     TEXT    NOT NULL,
	alternates TEXT             -- JSON; NULL: none
) STRICT;
CREATE INDEX intents_open ON intents (token) WHERE state = 1;

CREATE TABLE instances (
	id        TEXT    PRIMARY KEY,
	offering  INTEGER NOT NULL REFERENCES offerings,
	state     INTEGER NOT NULL,
	tag_fleet TEXT    NOT NULL,
	tag_epoch INTEGER NOT NULL,
	tag_round INTEGER NOT NULL,
	tag_intent TEXT   NOT NULL,
	launched  INTEGER,
	started   INTEGER,
	ended     INTEGER,
	cause     INTEGER NOT NULL,
	ready_at  INTEGER,
	draining  INTEGER NOT NULL,
	reason    TEXT    NOT NULL,
	ready     INTEGER NOT NULL,
	rate      INTEGER NOT NULL,
	booked    INTEGER,
	seen      INTEGER,
	noticed   INTEGER,
	loss      INTEGER,
	end_asked INTEGER,
	denied    INTEGER,
	settled   INTEGER NOT NULL,
	called_home  INTEGER,
	accelerators INTEGER NOT NULL, -- that it counted itself
	gone      INTEGER NOT NULL,
	missed    INTEGER,
	silent    INTEGER NOT NULL,
	quarantined INTEGER,
	orphan    INTEGER,
	mem_gib   REAL    NOT NULL, -- that it measured; 0: it has not
	astray    INTEGER,
	hinted    INTEGER -- the cloud said that it may take it
) STRICT;
CREATE INDEX instances_live ON instances (id) WHERE settled = 0;

CREATE TABLE shortages (
	cloud       TEXT    NOT NULL,
	account     TEXT    NOT NULL,
	region      TEXT    NOT NULL,
	zone        TEXT    NOT NULL,
	family      TEXT    NOT NULL,
	type        TEXT    NOT NULL,
	market      INTEGER NOT NULL, -- 0: every market
	reservation TEXT    NOT NULL,
	kind        TEXT    NOT NULL,
	since       INTEGER,
	until       INTEGER,
	streak      INTEGER NOT NULL,
	PRIMARY KEY (cloud, account, region, zone, family, type, market, reservation)
) STRICT;

CREATE TABLE overrides (
	kind    TEXT    NOT NULL,
	subject TEXT    NOT NULL,
	config  TEXT,              -- JSON; NULL: none
	who     TEXT    NOT NULL,
	why     TEXT    NOT NULL,
	since   INTEGER,
	until   INTEGER,
	PRIMARY KEY (kind, subject)
) STRICT;

CREATE TABLE budgets (
	name TEXT    NOT NULL PRIMARY KEY,
	team TEXT    NOT NULL,
	at   INTEGER,
	log  REAL    NOT NULL,          -- ln(1 + mu)
	rest INTEGER NOT NULL,
	burn INTEGER NOT NULL,
	mark TEXT    NOT NULL           -- JSON: where the steps of a policy stand
) STRICT;

CREATE TABLE questions (
	id       TEXT NOT NULL PRIMARY KEY,
	document TEXT NOT NULL          -- JSON
) STRICT;

-- A charge is a line that names what cost, who bears it and at which terms: of lines
-- there are millions, of these few. The view charges has all of it side by side.
CREATE TABLE charge_runs (
	id       INTEGER PRIMARY KEY,
	item     TEXT    NOT NULL, -- '' is a machine
	instance TEXT    NOT NULL,
	run      INTEGER NOT NULL, -- which start of it, from 1
	offering INTEGER NOT NULL REFERENCES offerings,
	of       INTEGER NOT NULL, -- accelerators of it
	UNIQUE (instance, run, offering, item, of)
) STRICT;

CREATE TABLE charge_bearers (
	id      INTEGER PRIMARY KEY,
	account TEXT NOT NULL,
	job     TEXT NOT NULL,
	team    TEXT NOT NULL,
	project TEXT NOT NULL,
	UNIQUE (job, account, team, project)
) STRICT;

CREATE TABLE charge_terms (
	id       INTEGER PRIMARY KEY,
	kind     TEXT    NOT NULL,
	rate     INTEGER NOT NULL,
	per      INTEGER NOT NULL, -- nanoseconds that the rate is for; 0: an hour
	public   INTEGER NOT NULL,
	known    INTEGER NOT NULL,
	prepaid  INTEGER NOT NULL,
	list     INTEGER NOT NULL,
	quantity INTEGER NOT NULL, -- 0: one
	price    INTEGER NOT NULL, -- of a purchase
	invoiced INTEGER,          -- of a later fact
	note     TEXT    NOT NULL,
	UNIQUE (rate, list, quantity, note, kind, per, public, known, prepaid, price, invoiced)
) STRICT;

CREATE TABLE charge_lines (
	seq    INTEGER PRIMARY KEY,
	id     TEXT    NOT NULL UNIQUE,
	run    INTEGER NOT NULL REFERENCES charge_runs,
	bearer INTEGER NOT NULL REFERENCES charge_bearers,
	terms  INTEGER NOT NULL REFERENCES charge_terms,
	starts INTEGER,
	ends   INTEGER,
	share  INTEGER NOT NULL,
	amount INTEGER NOT NULL,
	round  INTEGER NOT NULL
) STRICT;
CREATE INDEX charge_lines_ends ON charge_lines (ends); -- what reaches into a time is asked for, mostly a late one

CREATE VIEW charges AS
	SELECT l.seq, l.id, t.kind, r.item, r.instance, r.run, r.offering, l.starts, l.ends,
		b.account, b.job, b.team, b.project, l.share, r.of, t.rate, t.per, t.public, t.known, t.prepaid, t.list,
		t.quantity, t.price, l.amount, t.invoiced, t.note, l.round
	FROM charge_lines l
	JOIN charge_runs r ON r.id = l.run
	JOIN charge_bearers b ON b.id = l.bearer
	JOIN charge_terms t ON t.id = l.terms;

CREATE TABLE events (
	seq      INTEGER PRIMARY KEY,
	at       INTEGER,
	round    INTEGER NOT NULL,
	kind     TEXT    NOT NULL,
	job      TEXT    NOT NULL,
	instance TEXT    NOT NULL,
	offering INTEGER REFERENCES offerings,
	text     TEXT    NOT NULL
) STRICT;
CREATE INDEX events_at ON events (at);
