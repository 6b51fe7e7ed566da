#!/bin/bash
# The hooks of Petrel's agent: leads|released PIPE [FILE]. Reports its start on the pipe. With FILE, also starts a workload
# and writes its process id to the file.
at=$EPOCHREALTIME
echo "$1 $PETREL_NODE epoch $at" >>"$2"
if [ -n "$3" ]; then
  sleep 86400 &
  echo $! >"$3"
fi
