// Package highs solves linear and integer programs by HiGHS, a general solver that
// shares nothing with ours, so that the tests here can hold our answers against it.
// HiGHS runs as WebAssembly (npm package highs 1.15.3, MIT) under wazero. It is a
// module of its own: the product does not depend on either.
//
// GOODFLEET_HIGHS names the file highs.wasm; make test-highs brings it.
package highs
