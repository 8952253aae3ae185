"""Reading compose hosts: what each holds, and what `docker inspect` or `podman inspect` tells of its containers."""
