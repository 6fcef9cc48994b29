package throughput

import (
	"fmt"
	"slices"
	"strings"
)

// Class is a kind of model as the roofline sees it: what one training sample
// costs in arithmetic and in memory traffic, and what the replicas have to tell
// each other. Numbers are of mixed-precision training (bf16 or fp16 arithmetic,
// fp32 optimizer state).
type Class struct {
	Name   string // as jobs name it: "bert-large"
	Model  string // what it stands for, and what a sample is
	Source string // where the numbers come from

	FlopPerSample  float64 // forward and backward, a multiply-add counted as two
	BytesPerSample float64 // device memory traffic, forward and backward
	Batch          int     // samples per replica and step; a small memory takes it in parts

	Params        float64 // trainable parameters that each step reduces over the replicas
	StateGiB      float64 // parameters, gradients and optimizer state
	Sharded       bool    // the state is split over the replicas rather than held by each
	SampleGiB     float64 // activations held for one sample
	SwapPerSample float64 // bytes that a replica exchanges with the others per sample; 0: nothing is split by feature

	Kinds []string // kinds of accelerators that the numbers hold for
}

// Bytes of the number that a gradient, or a parameter that is gathered, is sent as.
const sentBytes = 2

// classes are the built-in model classes. For a transformer of L layers, width h,
// P parameters and sequences of s tokens: FlopPerSample = 6·P·s + 12·L·h·s²;
// BytesPerSample = 3 · 34·L·h·s, the activations that the backward pass needs,
// written once, read once, and their gradients; StateGiB = 16 bytes a parameter.
var classes = []Class{
	{
		Name:  "resnet50",
		Model: "ResNet-50 v1.5 on images of 224 × 224; a sample is an image",
		Source: "He et al. 2016: 4.1e9 multiply-adds forward, three times that with the backward pass; 25.6e6 parameters; " +
			"31e6 activations of 2 bytes, each moved some nine times",
		FlopPerSample: 3 * 2 * 4.1e9, BytesPerSample: 0.58e9, Batch: 256,
		Params: 25.6e6, StateGiB: 0.4, SampleGiB: 0.045, Kinds: []string{gpuKind, tpuKind},
	},
	{
		Name:          "bert-large",
		Model:         "BERT-large pre-training, 336e6 parameters, 24 layers of 1024; a sample is a sequence of 128 tokens",
		Source:        "Devlin et al. 2019; transformer formula",
		FlopPerSample: 6*336e6*128 + 12*24*1024*128*128, BytesPerSample: 3 * 34 * 24 * 1024 * 128, Batch: 64,
		Params: 336e6, StateGiB: 16 * 336e6 / gib, SampleGiB: 34 * 24 * 1024 * 128 / gib, Kinds: []string{gpuKind, tpuKind},
	},
	{
		Name:          "gpt-1.3b",
		Model:         "GPT of 1.3e9 parameters, 24 layers of 2048, state held by every replica; a sample is a sequence of 2048 tokens",
		Source:        "Brown et al. 2020, table 2.1; transformer formula",
		FlopPerSample: 6*1.3e9*2048 + 12*24*2048*2048*2048, BytesPerSample: 3 * 34 * 24 * 2048 * 2048, Batch: 16,
		Params: 1.3e9, StateGiB: 16 * 1.3e9 / gib, SampleGiB: 34 * 24 * 2048 * 2048 / gib, Kinds: []string{gpuKind, tpuKind},
	},
	{
		Name: "llm-7b",
		Model: "language model of 6.7e9 parameters, 32 layers of 4096, state sharded over the replicas, activations recomputed; " +
			"a sample is a sequence of 2048 tokens",
		Source:        "Touvron et al. 2023; transformer formula; held are one layer's activations and 2 bytes a layer, token and width",
		FlopPerSample: 6*6.7e9*2048 + 12*32*4096*2048*2048, BytesPerSample: 3 * 34 * 32 * 4096 * 2048, Batch: 16,
		Params: 6.7e9, StateGiB: 16 * 6.7e9 / gib, Sharded: true, SampleGiB: (34 + 2*32) * 4096 * 2048 / gib, Kinds: []string{gpuKind, tpuKind},
	},
	{
		Name: "diffusion-unet",
		Model: "Stable Diffusion 2 U-Net of 866e6 parameters at 512 × 512, images and captions encoded on the fly; " +
			"a sample is an image",
		Source: "Rombach et al. 2022: 0.4e12 multiply-adds of the U-Net forward, three times that with the backward pass; " +
			"0.5e12 of the image encoder, forward only",
		FlopPerSample: 3*2*0.4e12 + 2*0.5e12, BytesPerSample: 20e9, Batch: 16,
		Params: 866e6, StateGiB: 16 * 866e6 / gib, SampleGiB: 2.5, Kinds: []string{gpuKind, tpuKind},
	},
	{
		Name: "recommendation",
		Model: "DLRM on Criteo, 26 embedding tables of width 128 in fp32 split over the replicas; " +
			"a sample is an impression",
		Source: "Naumov et al. 2019; 2.4e6 parameters outside the tables; traffic per sample from NVIDIA's published 875e3 samples/s on a V100; " +
			"TPUs look tables up in units of their own, so nothing is known there",
		FlopPerSample: 15e6, BytesPerSample: 0.7e6, Batch: 16384,
		Params: 2.4e6, StateGiB: 12, Sharded: true, SampleGiB: 0.1e6 / gib, SwapPerSample: 2 * 26 * 128 * sentBytes, Kinds: []string{gpuKind},
	},
}

const gib = 1 << 30

// ClassNamed returns the built-in class of that name. The error lists the names
// that there are.
func ClassNamed(name string) (Class, error) {
	for _, c := range classes {
		if c.Name == name {
			return c, nil
		}
	}
	return Class{}, fmt.Errorf("model class %q: want one of %s", name, strings.Join(ClassNames(), ", "))
}

// ClassNames lists the built-in classes, sorted.
func ClassNames() []string {
	names := make([]string, len(classes))
	for i, c := range classes {
		names[i] = c.Name
	}
	slices.Sort(names)
	return names
}

// NeedGiB is the accelerator memory that a replica needs at least, when the job
// runs on replicas accelerators: its state and one sample, and a tenth to spare.
func (c Class) NeedGiB(replicas int) float64 {
	state := c.StateGiB
	if c.Sharded {
		state /= float64(replicas)
	}
	return (state + c.SampleGiB) / usableMemory
}
