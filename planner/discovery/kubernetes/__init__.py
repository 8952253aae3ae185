"""Reading a Kubernetes cluster from what `kubectl get -o json` prints."""
