package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/viper"

	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// settings are what a flag, the environment or a file may say, as texts that have
// been checked.
type settings struct {
	burnCap pricing.Rate // 0: none
	clouds  []string     // nil: all
	regions []string
	markets []provider.Market
	round   time.Duration
	seed    uint64
	output  string
	out     string
	ledger  string
	refused string   // file of prices that were put aside
	budgets []string // files of budget policies

	origins map[string]string // by key: where the value comes from
	values  map[string]string // by key, as text
	config  *document.Config  // nil: no file

	configDoc  document.Document // of config, for errors at its fields
	configHash string            // of its file's text; "": no file
}

// setting is one value that has a flag, a variable and a key in the file. A list
// is written with commas in a flag and a variable.
type setting struct {
	key, flag, short string
	usage            string
	fallback         func() string
	read             func(s *settings, text string) error
}

const envPrefix = "GOODFLEET_"

// env is the variable of a setting: GOODFLEET_BURN_CAP for --burn-cap.
func (d setting) env() string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(d.flag, "-", "_"))
}

func always(value string) func() string { return func() string { return value } }

// settingList is every setting there is, by key.
var settingList = []setting{
	{"budgets", "budgets", "", "files of kind BudgetPolicy, separated by commas", always(""),
		func(s *settings, text string) error { s.budgets = commas(text); return nil }},
	{"burnCap", "burn-cap", "", `most that all machines may cost at a time, such as "40 USD/h"`, always(""),
		func(s *settings, text string) (err error) { s.burnCap, err = readRate(text); return err }},
	{"clouds", "clouds", "", "clouds to buy from, separated by commas", always(""),
		func(s *settings, text string) error { s.clouds = commas(text); return nil }},
	{"ledger", "ledger", "", "file of charges that cost-report reads (default charges.jsonl in the folder of --out)", always(""),
		func(s *settings, text string) error { s.ledger = text; return nil }},
	{"markets", "markets", "", "markets to buy in: on-demand, spot", always(""),
		func(s *settings, text string) (err error) { s.markets, err = readMarkets(text); return err }},
	{"out", "out", "", "folder for the files that a command writes", always("out"),
		func(s *settings, text string) error { s.out = text; return nil }},
	{"output", "output", "o", "form of the answer: table, json, yaml or csv", always(asTable),
		func(s *settings, text string) error {
			s.output = text
			return checkFormat(text, asTable, asJSON, asYAML, asCSV)
		}},
	{"quarantine", "quarantine", "", "file of prices that were put aside until they are accepted", defaultQuarantine,
		func(s *settings, text string) error { s.refused = text; return nil }},
	{"regions", "regions", "", "regions to buy in, separated by commas", always(""),
		func(s *settings, text string) error { s.regions = commas(text); return nil }},
	{"round", "round", "", "time from one round to the next", always("1m"),
		func(s *settings, text string) (err error) { s.round, err = readRound(text); return err }},
	{"seed", "seed", "", "seed of everything that is drawn in a simulation", always("1"),
		func(s *settings, text string) (err error) { s.seed, err = readSeed(text); return err }},
}

func readRate(text string) (pricing.Rate, error) {
	if text == "" {
		return 0, nil
	}
	rate, err := pricing.ParseHourly(text)
	if err == nil && rate <= 0 {
		return 0, fmt.Errorf("%q: want more than 0", text)
	}
	return rate, err
}

func readSeed(text string) (uint64, error) {
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q: want a whole number from 0 to %d", text, uint64(math.MaxUint64))
	}
	return seed, nil
}

func readRound(text string) (time.Duration, error) {
	d, err := document.ParseDuration(text)
	if err == nil && d < time.Second {
		return 0, fmt.Errorf("%q: want at least 1s", text)
	}
	return d, err
}

func readMarkets(text string) ([]provider.Market, error) {
	var markets []provider.Market
	for _, word := range commas(text) {
		m, err := provider.ParseMarket(word)
		if err != nil {
			return nil, fmt.Errorf("%w%s", err, suggestion(word, []string{"on-demand", "spot", "reserved", "queued"}))
		}
		markets = append(markets, m)
	}
	return markets, nil
}

// commas splits a list; an empty text is an empty list.
func commas(text string) []string {
	var list []string
	for _, word := range strings.Split(text, ",") {
		if word = strings.TrimSpace(word); word != "" {
			list = append(list, word)
		}
	}
	return list
}

// addSettings gives a verb the flags of the settings that it goes by.
func addSettings(cmd *cobra.Command, keys ...string) {
	for _, d := range settingList {
		if !slices.Contains(keys, d.key) {
			continue
		}
		usage := d.usage
		if fallback := d.fallback(); fallback != "" && d.key != "quarantine" {
			usage += " (default " + fallback + ")"
		}
		cmd.Flags().StringP(d.flag, d.short, "", usage)
	}
}

// readSettings puts together what flags, environment and file say, in that order,
// and checks every value, whether this verb uses it or not.
func readSettings(cmd *cobra.Command) (settings, error) {
	s := settings{origins: map[string]string{}, values: map[string]string{}}
	env := newEnvironment(os.Environ())
	if err := env.check(); err != nil {
		return s, err
	}
	v := viper.New()
	file, err := s.readFile(cmd, env, v)
	if err != nil {
		return s, err
	}
	for _, d := range settingList {
		v.SetDefault(d.key, d.fallback())
		origin := "default"
		if v.InConfig(d.key) {
			line, _ := file.doc.Place("spec." + d.key)
			origin = fmt.Sprintf("%s:%d", file.path, line)
		}
		if err := v.BindEnv(d.key, d.env()); err != nil {
			return s, err
		}
		if env[d.env()] != "" {
			origin = "environment " + d.env()
		}
		if f := cmd.Flags().Lookup(d.flag); f != nil {
			if err := v.BindPFlag(d.key, f); err != nil {
				return s, err
			}
			if f.Changed {
				origin = "flag --" + d.flag
			}
		}
		value := v.GetString(d.key)
		if err := d.read(&s, value); err != nil {
			return s, fmt.Errorf("%s: %s: %w", origin, d.key, err)
		}
		s.origins[d.key], s.values[d.key] = origin, value
	}
	if s.ledger == "" {
		s.ledger = filepath.Join(s.out, ledgerFile)
		s.values["ledger"] = s.ledger
	}
	return s, nil
}

// configFile is a settings file that was read.
type configFile struct {
	path string
	doc  document.Document
}

// readFile reads the settings file, if there is one, through the strict decoder,
// and hands its single values to v.
func (s *settings) readFile(cmd *cobra.Command, env environment, v *viper.Viper) (configFile, error) {
	path, named := env[envPrefix+"CONFIG"], true
	if f := cmd.Flags().Lookup("config"); f != nil && f.Changed {
		path = f.Value.String()
	}
	if path == "" {
		named = false
		if path = env.settingsFile(); path == "" {
			return configFile{}, nil
		}
	}
	data, err := readFile(path)
	if err != nil {
		if !named && os.IsNotExist(err) {
			return configFile{}, nil
		}
		return configFile{}, fmt.Errorf("config: %w", err)
	}
	docs, err := document.Decode(path, data)
	if err != nil {
		return configFile{}, err
	}
	if len(docs) != 1 || docs[0].Config == nil {
		return configFile{}, docs[len(docs)-1].Fail("kind", "want one document of kind Config")
	}
	s.config, s.configDoc, s.configHash = docs[0].Config, docs[0], hashOf(data)
	return configFile{path, docs[0]}, v.MergeConfigMap(scalars(s.config.Spec))
}

// scalars are the settings of a file that are one value, as texts.
func scalars(spec document.ConfigSpec) map[string]any {
	m := map[string]any{}
	put := func(key, value string) {
		if value != "" {
			m[key] = value
		}
	}
	if spec.BurnCap != 0 {
		put("burnCap", pricing.Rate(spec.BurnCap).String()+" USD/h")
	}
	if spec.Round != 0 {
		put("round", document.FormatDuration(time.Duration(spec.Round)))
	}
	if spec.Seed != nil {
		put("seed", strconv.FormatUint(*spec.Seed, 10))
	}
	var markets []string
	for _, market := range spec.Markets {
		markets = append(markets, market.String())
	}
	put("budgets", strings.Join(spec.Budgets, ","))
	put("clouds", strings.Join(spec.Clouds, ","))
	put("regions", strings.Join(spec.Regions, ","))
	put("markets", strings.Join(markets, ","))
	put("output", spec.Output)
	put("out", spec.Out)
	put("ledger", spec.Ledger)
	put("quarantine", spec.Quarantine)
	return m
}
