package throughput

import (
	"bytes"
	_ "embed"
	"sync"
)

//go:embed data/gavel.csv
var gavelCSV []byte

// gavelFile is how errors call the embedded table.
const gavelFile = "gavel.csv"

// Gavel is the table of Gavel's simulations: 26 job types, alone, on 1, 2, 4 and 8
// K80, P100 and V100. The value is shared: a Table does not change.
var Gavel = sync.OnceValues(func() (*Table, error) {
	return ReadTable(gavelFile, bytes.NewReader(gavelCSV), "steps_per_s_simulation")
})

// GavelPhysical is the table of Gavel's physical cluster: the same but for 73
// speeds that were measured anew.
var GavelPhysical = sync.OnceValues(func() (*Table, error) {
	return ReadTable(gavelFile, bytes.NewReader(gavelCSV), "steps_per_s_physical")
})
