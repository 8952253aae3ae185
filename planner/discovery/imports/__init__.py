"""Existing manifests and scripts as Job specs, each with what it came from as its template."""
