package highs

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// The letters under which this build exports its functions; build/highs.js of the
// package lists them.
const (
	fnConstructors = "v"
	fnMalloc       = "uc"
	fnFree         = "tc"
	fnCreate       = "F"
	fnDestroy      = "G"
	fnPassLP       = "U"
	fnPassMIP      = "V"
	fnSetBool      = "ia"
	fnSetDouble    = "ka"
	fnSetString    = "la"
	fnRun          = "N"
	fnStatus       = "Ga"
	fnObjective    = "Ka"
	fnSolution     = "Ea"
)

// Solver is a running HiGHS.
type Solver struct {
	ctx     context.Context
	runtime wazero.Runtime
	module  api.Module
}

// New compiles the file named by GOODFLEET_HIGHS, with the compilation kept in cache.
func New(ctx context.Context, cache string) (*Solver, error) {
	file := os.Getenv("GOODFLEET_HIGHS")
	if file == "" {
		return nil, fmt.Errorf("GOODFLEET_HIGHS is not set: want the path of highs.wasm")
	}
	code, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	config := wazero.NewRuntimeConfig()
	if cache != "" {
		store, err := wazero.NewCompilationCacheWithDir(filepath.Join(cache, "wazero"))
		if err != nil {
			return nil, err
		}
		config = config.WithCompilationCache(store)
	}
	s := &Solver{ctx: ctx, runtime: wazero.NewRuntimeWithConfig(ctx, config)}
	compiled, err := s.runtime.CompileModule(ctx, code)
	if err != nil {
		return nil, fmt.Errorf("compile %s: %w", file, err)
	}
	if err := s.imports(compiled); err != nil {
		return nil, err
	}
	if s.module, err = s.runtime.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName("highs").WithStartFunctions()); err != nil {
		return nil, fmt.Errorf("start highs: %w", err)
	}
	_, err = s.module.ExportedFunction(fnConstructors).Call(ctx)
	return s, err
}

// Close frees the solver.
func (s *Solver) Close() error { return s.runtime.Close(s.ctx) }

// imports gives the module the few functions of a system that it needs: memory, and
// nothing else. Those that throw or exit panic, all others answer an error or zero.
func (s *Solver) imports(m wazero.CompiledModule) error {
	host := s.runtime.NewHostModuleBuilder("a")
	for _, f := range m.ImportedFunctions() {
		_, name, _ := f.Import()
		results := f.ResultTypes()
		body := func(_ context.Context, _ api.Module, stack []uint64) {
			for i := range results {
				stack[i] = 0
			}
		}
		switch name {
		case "a", "b", "k", "r":
			body = func(context.Context, api.Module, []uint64) { panic("highs: the solver gave up by exception: " + name) }
		case "q": // grow memory to at least so many bytes
			body = func(_ context.Context, mod api.Module, stack []uint64) {
				const page = 65536
				want := uint32(stack[0])
				have := mod.Memory().Size()
				ok := want <= have
				if !ok {
					_, ok = mod.Memory().Grow((want - have + page - 1) / page)
				}
				stack[0] = 0
				if ok {
					stack[0] = 1
				}
			}
		case "f": // fd_write: swallow
			body = func(_ context.Context, mod api.Module, stack []uint64) {
				list, n, out := uint32(stack[1]), uint32(stack[2]), uint32(stack[3])
				total := uint32(0)
				for i := range n {
					length, _ := mod.Memory().ReadUint32Le(list + 8*i + 4)
					total += length
				}
				mod.Memory().WriteUint32Le(out, total)
				stack[0] = 0
			}
		}
		host.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(body), f.ParamTypes(), results).Export(name)
	}
	_, err := host.Instantiate(s.ctx)
	return err
}

func (s *Solver) call(name string, args ...uint64) uint64 {
	r, err := s.module.ExportedFunction(name).Call(s.ctx, args...)
	if err != nil {
		panic(fmt.Errorf("highs %s: %w", name, err))
	}
	if len(r) == 0 {
		return 0
	}
	return r[0]
}

// Program is a linear or integer program: Sense 1 minimises, -1 maximises.
type Program struct {
	Sense              int
	Cost, Lower, Upper []float64
	Whole              []bool // nil: none
	RowLower, RowUpper []float64
	Start, Index       []int32
	Value              []float64
	Method             string  // "", "simplex", "ipm", "pdlp"
	Crossover          bool    // after ipm
	Gap                float64 // of integer programs; 0: 1e-9
}

// Column appends a column with bounds 0 and +Inf.
func (p *Program) Column(cost float64, rows []int32, values []float64) int {
	p.Cost = append(p.Cost, cost)
	p.Lower, p.Upper = append(p.Lower, 0), append(p.Upper, math.Inf(1))
	p.Start = append(p.Start, int32(len(p.Index)))
	p.Index, p.Value = append(p.Index, rows...), append(p.Value, values...)
	return len(p.Cost) - 1
}

// Row appends a row with bounds and returns its index.
func (p *Program) Row(lower, upper float64) int32 {
	p.RowLower, p.RowUpper = append(p.RowLower, lower), append(p.RowUpper, upper)
	return int32(len(p.RowLower) - 1)
}

// Ends of a run, as HiGHS numbers them.
const (
	Optimal     = 7
	Infeasible  = 8
	UnboundedOr = 9 // unbounded or infeasible
	Unbounded   = 10
)

// Result is HiGHS's answer.
type Result struct {
	Status    int
	Objective float64
	X         []float64
}

// Solve runs HiGHS on p.
func (s *Solver) Solve(p *Program) Result {
	h := s.call(fnCreate)
	defer s.call(fnDestroy, h)
	var held []uint64
	defer func() {
		for _, at := range held {
			s.call(fnFree, at)
		}
	}()
	bytes := func(b []byte) uint64 {
		at := s.call(fnMalloc, uint64(len(b)+8))
		if !s.module.Memory().Write(uint32(at), b) {
			panic("highs: out of memory")
		}
		held = append(held, at)
		return at
	}
	doubles := func(v []float64) uint64 {
		b := make([]byte, 8*len(v))
		for i, x := range v {
			binary.LittleEndian.PutUint64(b[8*i:], math.Float64bits(x))
		}
		return bytes(b)
	}
	ints := func(v []int32) uint64 {
		b := make([]byte, 4*len(v))
		for i, x := range v {
			binary.LittleEndian.PutUint32(b[4*i:], uint32(x))
		}
		return bytes(b)
	}
	text := func(v string) uint64 { return bytes(append([]byte(v), 0)) }
	s.call(fnSetBool, h, text("output_flag"), 0)
	s.call(fnSetDouble, h, text("mip_rel_gap"), math.Float64bits(max(p.Gap, 1e-9)))
	s.call(fnSetDouble, h, text("mip_abs_gap"), math.Float64bits(1e-12))
	s.call(fnSetDouble, h, text("primal_feasibility_tolerance"), math.Float64bits(1e-9))
	s.call(fnSetDouble, h, text("dual_feasibility_tolerance"), math.Float64bits(1e-9))
	if p.Method != "" {
		s.call(fnSetString, h, text("solver"), text(p.Method))
		crossover := "off"
		if p.Crossover {
			crossover = "on"
		}
		s.call(fnSetString, h, text("run_crossover"), text(crossover))
	}
	args := []uint64{h, uint64(len(p.Cost)), uint64(len(p.RowLower)), uint64(len(p.Index)), 1, api.EncodeI32(int32(p.Sense)), 0,
		doubles(p.Cost), doubles(p.Lower), doubles(p.Upper), doubles(p.RowLower), doubles(p.RowUpper), ints(p.Start), ints(p.Index), doubles(p.Value)}
	name := fnPassLP
	if p.Whole != nil {
		kinds := make([]int32, len(p.Whole))
		for i, w := range p.Whole {
			if w {
				kinds[i] = 1
			}
		}
		name, args = fnPassMIP, append(args, ints(kinds))
	}
	if code := int32(s.call(name, args...)); code < 0 {
		panic(fmt.Sprintf("highs: the program was refused (%d)", code))
	}
	s.call(fnRun, h)
	r := Result{Status: int(int32(s.call(fnStatus, h))), Objective: math.Float64frombits(s.call(fnObjective, h))}
	n, m := len(p.Cost), len(p.RowLower)
	at := func(k int) uint64 { return bytes(make([]byte, 8*k)) }
	x, xd, rv, rd := at(n), at(n), at(m), at(m)
	s.call(fnSolution, h, x, xd, rv, rd)
	data, _ := s.module.Memory().Read(uint32(x), uint32(8*n))
	r.X = make([]float64, n)
	for i := range r.X {
		r.X[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
	}
	return r
}
