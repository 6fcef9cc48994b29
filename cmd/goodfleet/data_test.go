package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// home serves one file, after so many failures.
type home struct {
	mu       sync.Mutex // guards asked
	asked    []string
	failures int
	text     string
}

func (h *home) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, r.URL.Path)
	if len(h.asked) <= h.failures {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if h.text == "" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	_, _ = io.WriteString(w, h.text)
}

func someFile(text string) dataFile {
	sum := sha256.Sum256([]byte(text))
	return dataFile{"some", "owner/name", strings.Repeat("a", 40), "dir/x.csv", hex.EncodeToString(sum[:]), int64(len(text)), "some/x.csv.gz"}
}

func TestFetchBringsAFileOnceAndWhole(t *testing.T) {
	h := &home{failures: 2, text: "a,b\n1,2\n"}
	server := httptest.NewServer(h)
	defer server.Close()
	cfg := dataConfig{folder: t.TempDir(), mirror: server.URL + "/"}
	f := someFile(h.text)
	for want := range 2 {
		there, err := fetchAll(context.Background(), cfg, []dataFile{f}, func() {})
		if err != nil || there != want {
			t.Fatalf("%d were there, %v: want %d", there, err, want)
		}
	}
	if got, want := fmt.Sprint(h.asked), fmt.Sprint([]string{"/owner/name/" + f.commit + "/dir/x.csv", "/owner/name/" + f.commit + "/dir/x.csv", "/owner/name/" + f.commit + "/dir/x.csv"}); got != want {
		t.Errorf("asked for %s, want two refusals and one file: %s", got, want)
	}
	packed, err := os.ReadFile(filepath.Join(cfg.folder, f.file))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(z); err != nil || string(text) != h.text {
		t.Errorf("%q, %v", text, err)
	}
	// What was damaged is fetched again.
	if err := os.WriteFile(filepath.Join(cfg.folder, f.file), packed[:len(packed)-5], 0o644); err != nil {
		t.Fatal(err)
	}
	if there, err := fetchAll(context.Background(), cfg, []dataFile{f}, func() {}); err != nil || there != 0 {
		t.Errorf("%d were there, %v: want the damaged file fetched", there, err)
	}
}

func TestFetchKeepsNothingThatIsNotWhatItWas(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"changed": {"a,b\n1,3\n", "it is not the file that it was"},
		"longer":  {"a,b\n1,2\n3,4\n", "more than the 8 bytes"},
		"cut":     {"a,b\n", "of 4 bytes"},
		"gone":    {"", "404 Not Found"},
	} {
		h := &home{text: tt.text}
		server := httptest.NewServer(h)
		cfg := dataConfig{folder: t.TempDir(), mirror: server.URL}
		_, err := fetchAll(context.Background(), cfg, []dataFile{someFile("a,b\n1,2\n")}, func() {})
		server.Close()
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "dir/x.csv") {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		if left, _ := filepath.Glob(filepath.Join(cfg.folder, "some", "*")); len(left) > 0 {
			t.Errorf("%s: left %v", name, left)
		}
	}
}

func TestDataFilesAreEachNamedOnce(t *testing.T) {
	all, err := dataFiles()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range all {
		if seen[f.file] || !strings.HasPrefix(f.file, f.set+"/") || !strings.HasSuffix(f.file, ".gz") || f.bytes <= 0 {
			t.Errorf("%+v", f)
		}
		seen[f.file] = true
	}
	if err := runDataFetch(context.Background(), io.Discard, dataConfig{sets: []string{"helios"}, bar: io.Discard}); err == nil || !strings.Contains(err.Error(), "want pollux or sia") {
		t.Errorf("a set that is not there: %v", err)
	}
}
