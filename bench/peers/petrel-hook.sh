#!/bin/bash
# The hooks of Petrel's agent: leads|released PIPE [FILE]. Says when it began, on the pipe; with a file, leaves a workload, whose
# process id is in the file.
at=$EPOCHREALTIME
echo "$1 $PETREL_NODE epoch $at" >>"$2"
if [ -n "$3" ]; then
  sleep 86400 &
  echo $! >"$3"
fi
