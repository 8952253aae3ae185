//go:build tools

// Package lab pins, through go.mod, the programs that the lab builds.
package lab

import _ "github.com/docker/compose/v5/cmd"
