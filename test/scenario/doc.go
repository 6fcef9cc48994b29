// Package scenario replays what went wrong in other autoscalers, one file for each
// public report, on the one loop and the cloud in memory. README.md lists them by
// the number of their row, and says which wait for a real cloud's driver.
//
// A file is a txtar archive. Its comment says what happened and what should. The
// section fleet says what is sold and how the loop is set, jobs what is to be done,
// cloud what goes wrong (in the language of provider/fake), and expect what must be
// seen, in lines:
//
//	at TIME machines N [of OFFERING]    so many are really there; OFFERING may have *
//	at TIME running JOB | waiting JOB   as the runner sees it
//	at TIME override KIND SUBJECT...    a person overrules the plan; no expectation
//	never more than N machines          at any time
//	events KIND N | at least N          over the whole run
//	said KIND TEXT                      an event of the kind holds the text
//	done JOB by TIME                    its work is done
//	booked                              every machine's life, once
package scenario
