package main

import (
	"fmt"
	"io"
	"os"

	"github.com/goodfleet/goodfleet/autoscale/document"
)

// openInput opens a file to be read. A folder is none.
func openInput(path string) (*os.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		file.Close()
		return nil, fmt.Errorf("%s: is a folder, want a file", path)
	}
	return file, nil
}

// readFile reads a file, whatever it holds.
func readFile(path string) ([]byte, error) {
	file, err := openInput(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}

// smallFile is the most that a file of a secret or of certificates holds.
const smallFile = 1 << 20

// readSmall reads a file of a secret or of certificates, or a pipe.
func readSmall(path string) ([]byte, error) {
	file, err := openInput(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, smallFile+1))
	if err == nil && len(text) > smallFile {
		err = fmt.Errorf("%s: is larger than 1 MiB", path)
	}
	return text, err
}

// readInput reads a file of text, or standard input for "-".
func readInput(s streams, path string) ([]byte, error) {
	name, data, err := path, []byte(nil), error(nil)
	if path == "-" {
		name = "stdin"
		data, err = io.ReadAll(s.in)
	} else {
		data, err = readFile(path)
	}
	if err != nil {
		return nil, err
	}
	return document.Text(name, data)
}
