// Package imports holds the arrows between the packages of goodfleet: who may
// import whom, and where foreign libraries have their place. Its test reads every
// Go file of the module, those behind build tags too, and fails on any other arrow.
package imports
