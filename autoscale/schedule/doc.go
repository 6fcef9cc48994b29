// Package schedule says when something may be done: windows that open at instants of
// a clock on the wall, in a zone of the IANA data base.
//
// Its nouns are Cron (when a window opens: the five fields of crontab) and Window
// (from then on, for so long, by the clock on the wall). A window that opens at 01:00
// and lasts four hours ends at 05:00 on every day, also on the two of the year on
// which that is three or five hours later. A time that the clock jumps over is the
// instant of the jump; one that it shows twice is the first of the two.
//
// The parser is an own one. It is strict where the usual ones are lenient: it has no
// nicknames, no seconds, no "L", "W" or "#", refuses a field that no day can have
// (30 February), and says which field is wrong. Nothing here reads a clock.
package schedule
