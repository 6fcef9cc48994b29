// Package measured is the applications of Pollux and Sia as their authors measured them:
// step times by placement and local batch, and the statistics of gradients by epoch and
// batch. It is what their jobs really do in a replay, whatever a scheduler believes.
//
// Its noun is Application. Progress is in samples of the smallest batch M0, times are in
// seconds, batches in samples. The data are read from the folders of the authors'
// artifacts; they are no part of the project.
//
// Sources: Qiao et al., "Pollux", OSDI 2021, branch osdi21-artifact of petuum/adaptdl;
// Subramanya et al., "Sia", SOSP 2023, siasosp23/artifacts.
package measured
