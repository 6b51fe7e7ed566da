#!/bin/bash
# The hooks of Petrel's agent. Arguments: leads|released PIPE [FILE]. The script reports its start on the pipe. With FILE,
# it starts a workload and writes the workload's process id to the file.
at=$EPOCHREALTIME
echo "$1 $PETREL_NODE epoch $at" >>"$2"
if [ -n "$3" ]; then
  sleep 86400 &
  echo $! >"$3"
fi
