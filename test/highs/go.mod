module github.com/goodfleet/goodfleet/test/highs

go 1.26.0

require (
	github.com/goodfleet/goodfleet v0.0.0
	github.com/tetratelabs/wazero v1.12.0
)

require (
	golang.org/x/sys v0.50.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace github.com/goodfleet/goodfleet => ../..
