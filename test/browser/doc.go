// Package browser opens the report of a simulation in a real Chromium and measures
// it: that it asks for nothing outside the file, that every picture is drawn and
// keeps its words inside, and that the page fits a desk and a phone. Its test is
// behind the tag browser; make test-browser brings the browser and runs it.
package browser
