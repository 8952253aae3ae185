//go:build tools

// Package lab pins, through go.mod, the programs that the lab builds.
package lab

import _ "sigs.k8s.io/kueue/cmd/kueue"
