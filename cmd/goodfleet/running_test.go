package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/autoscale/store"
)

// A plan against a store takes its jobs and its overrides from there, without a file.
func TestPlanReadsWhatRunsFromAStore(t *testing.T) {
	ctx, now := context.Background(), time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	text, _ := example("tpu-or-gpu")
	jobs, err := document.Jobs("jobs.yaml", text, document.Sold{})
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir() + "/fleet.db"
	s, err := store.OpenSQLite(ctx, store.SQLiteConfig{Path: path, Jobs: store.Codec{Encode: document.EncodeJob, Decode: document.DecodeJob}})
	if err != nil {
		t.Fatal(err)
	}
	snap, err := s.Load(ctx)
	if err != nil {
		t.Fatal(err)
	}
	jobs[0].Submitted = now
	change := autoscale.Change{
		Version: snap.Version, Round: 1,
		Jobs: []autoscale.JobRecord{{Job: jobs[0], Phase: autoscale.JobWaiting, Waiting: now}},
		Overrides: []autoscale.Override{{
			OverrideKey: autoscale.OverrideKey{Kind: autoscale.Exclude, Subject: "gcp/*/v5e-8/spot"}, Who: "ada", Why: "no image", Since: now,
		}},
	}
	if err := s.Commit(ctx, change); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cfg := planConfig{askConfig: askConfig{settings: settings{output: asTable, refused: t.TempDir() + "/quarantine.json"}, now: now, state: path}}
	if err := runPlan(ctx, streams{strings.NewReader(""), &out, &out}, cfg); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "light") || strings.Contains(out.String(), "v5e-8") {
		t.Errorf("the job of the store is not planned, or the override not kept:\n%s", out.String())
	}
}
