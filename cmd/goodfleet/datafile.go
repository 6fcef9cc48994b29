package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"golang.org/x/sync/errgroup"
)

//go:embed data/files.csv
var dataFilesCSV string

// dataFile is a file of a public data set.
type dataFile struct {
	set, repository, commit, path string
	sha256                        string // of its content, hexadecimal
	bytes                         int64
	file                          string // where it goes, packed
}

// dataFiles lists all of them.
func dataFiles() ([]dataFile, error) {
	rows, err := csv.NewReader(strings.NewReader(dataFilesCSV)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("data/files.csv: %w", err)
	}
	var list []dataFile
	for i, r := range rows[1:] {
		size, err := strconv.ParseInt(r[5], 10, 64)
		if err != nil || len(r[2]) != 40 || len(r[4]) != 2*sha256.Size || !filepath.IsLocal(r[6]) {
			return nil, fmt.Errorf("data/files.csv:%d: want a commit, a SHA-256, a size and a local file", i+2)
		}
		list = append(list, dataFile{r[0], r[1], r[2], r[3], r[4], size, r[6]})
	}
	return list, nil
}

// Bounds of fetching.
const (
	fetchesAtOnce = 4
	fetchRetries  = 4
	fetchTimeout  = 2 * time.Minute // of one try
)

// fetchAll brings files that are not there, and returns how many were.
func fetchAll(ctx context.Context, cfg dataConfig, files []dataFile, done func()) (there int, err error) {
	client := retryablehttp.NewClient()
	client.Logger, client.RetryMax = nil, fetchRetries
	client.RetryWaitMin, client.RetryWaitMax = 200*time.Millisecond, 10*time.Second
	client.HTTPClient.Timeout = fetchTimeout
	client.ErrorHandler = retryablehttp.PassthroughErrorHandler
	var found atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(fetchesAtOnce)
	for _, f := range files {
		group.Go(func() error {
			defer done()
			whole, err := f.whole(cfg.folder)
			if err != nil {
				return err
			}
			if whole {
				found.Add(1)
				return nil
			}
			text, err := f.fetch(ctx, client, cfg.mirror)
			if err != nil {
				return err
			}
			return f.keep(cfg.folder, text)
		})
	}
	err = group.Wait()
	return int(found.Load()), err
}

// whole reports whether the file is there with the right content.
func (f dataFile) whole(folder string) (bool, error) {
	packed, err := os.ReadFile(filepath.Join(folder, f.file))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("data fetch: %w", err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return false, nil // it is fetched anew
	}
	text, err := io.ReadAll(io.LimitReader(z, f.bytes+1))
	return err == nil && f.check(text) == nil, nil
}

// fetch reads the file at its home.
func (f dataFile) fetch(ctx context.Context, client *retryablehttp.Client, home string) ([]byte, error) {
	url := strings.TrimSuffix(home, "/") + "/" + f.repository + "/" + f.commit + "/" + f.path
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("data fetch: %w", err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("data fetch: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("data fetch: %s: %s", url, resp.Status)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, f.bytes+1))
	if err != nil {
		return nil, fmt.Errorf("data fetch: %s: %w", url, err)
	}
	if err := f.check(text); err != nil {
		return nil, fmt.Errorf("data fetch: %s: %w", url, err)
	}
	return text, nil
}

// check compares a content with what it is to be.
func (f dataFile) check(text []byte) error {
	if int64(len(text)) > f.bytes {
		return fmt.Errorf("more than the %d bytes that it has", f.bytes)
	}
	sum := sha256.Sum256(text)
	if got := hex.EncodeToString(sum[:]); got != f.sha256 {
		return fmt.Errorf("SHA-256 %s of %d bytes, want %s of %d: it is not the file that it was", got, len(text), f.sha256, f.bytes)
	}
	return nil
}

// keep writes the file, packed, whole or not at all.
func (f dataFile) keep(folder string, text []byte) error {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return fmt.Errorf("data fetch: %w", err)
	}
	if _, err := z.Write(text); err != nil {
		return fmt.Errorf("data fetch: %w", err)
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("data fetch: %w", err)
	}
	name := filepath.Join(folder, f.file)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("data fetch: %w", err)
	}
	part, err := os.CreateTemp(filepath.Dir(name), ".part-*")
	if err != nil {
		return fmt.Errorf("data fetch: %w", err)
	}
	defer os.Remove(part.Name())
	_, err = part.Write(b.Bytes())
	if err = errors.Join(err, part.Chmod(0o644), part.Close()); err != nil {
		return fmt.Errorf("data fetch: %w", err)
	}
	if err := os.Rename(part.Name(), name); err != nil {
		return fmt.Errorf("data fetch: %w", err)
	}
	return nil
}
