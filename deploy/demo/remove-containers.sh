#!/bin/bash
# remove-containers.sh CLUSTER: removes the containers and networks that Berth's agents made for that
# cluster, whatever state they are in. Known by their labels, so nobody else's are touched.
set -euo pipefail
label="label=com.amazonaws.ecs.cluster=${1:?usage: remove-containers.sh CLUSTER}"

docker ps -aq --filter "$label" | xargs -r docker rm -f >/dev/null
docker network ls -q --filter "$label" | xargs -r docker network rm >/dev/null
