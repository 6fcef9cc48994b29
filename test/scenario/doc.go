// Package scenario replays what went wrong in other autoscalers, one file for each
// public report, on the one loop and the cloud in memory. README.md lists them by
// the number of their row, and says which wait for a real cloud's driver.
//
// A file is a txtar archive. Its comment says what happened and what should. The
// section fleet says what is sold and how the loop is set, prices what a price file
// adds to it, jobs what is to be done, cloud what goes wrong (in the language of
// provider/fake), and expect what must be seen, in lines. Prices are USD per hour.
//
// In fleet:
//
//	sell OFFERING USD | OFFERING unpriced
//	price OFFERING USD|unknown at TIME
//	swap OFFERING OFFERING every TIME for TIME   they change prices
//	quota FAMILY MARKET VCPUS
//	reserve OFFERING N from TIME until TIME      a capacity block, taken 30 minutes before its end
//	end-first MARKET                             a drained machine ends before there is another
//	budget NAME USD day|month flat|priced [TEAM]
//	window NAME allow|deny moves|launches CRON for TIME ZONE
//	begin INSTANT                                before all other lines
//	round, boot, setup, hold, life TIME          and growth, moves N; agents
//	policy min-cost                              in place of value
//
// In jobs, of so many hours on one V100:
//
//	NAME HOURS xSIZE [at TIME] [deadline TIME] [max USD] [value USD] [memory GIB] [market M] [type T] [team T] [restore TIME]
//
// In expect:
//
//	at TIME machines N [of OFFERING]    so many are really there; OFFERING may have *
//	at TIME running JOB | waiting JOB   as the runner sees it
//	at TIME reason JOB TEXT             what the last plan says of it holds the text
//	at TIME override KIND SUBJECT...    a person overrules the plan; drain may be "oldest of OFFERING"
//	at TIME cancel JOB | resume         a person's word too
//	at TIME restart                     another controller takes up the store
//	at TIME clock AHEAD                 the next round sees a clock that is off
//	never more than N machines          at any time
//	launched N OFFERING                 over the whole run
//	events KIND N | at least N | at most N
//	said KIND TEXT                      an event of the kind holds the text
//	refused TEXT                        a line of prices is no price, and why
//	generation JOB N                    so many gangs of it were started
//	done JOB by TIME                    its work is done
//	spent USD [by TEAM | until TIME]    what is booked, to the cent
//	booked                              every machine's life, once
package scenario
