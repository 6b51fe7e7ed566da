#!/bin/bash
# The hook of fault tests: hook.sh PHASE. Writes what it does, as it does it, to the events beside it; see
# hook-log.ts. A successful takeover leaves a workload behind, in its own process group: a loop that beats until
# it is killed. Everything ends with the folder or the test process.
export LC_ALL=C
dir=${0%/*} phase=$1
owner=$(<"$dir/owner")
node=${PETREL_NODE:-} term=${PETREL_TERM:-0} token=${PETREL_FENCING_TOKEN:-}
take_ms=0 exit_code=0 hang=0 stubborn=0 leave=0

# One write to a file opened for appending: the order of the lines is the order of the events.
note() { # EVENT [NODE TOKEN [ALIVE]]
  printf '{"node":"%s","phase":"%s","event":"%s","term":%s,"token":"%s","at":%s,"alive":[%s]}\n' \
    "${2-$node}" "$phase" "$1" "$term" "${3-$token}" "$EPOCHREALTIME" "${4-}" >>"$dir/events"
} 2>/dev/null

# Until the test has removed the folder, or is dead.
wanted() { [ -e "$dir/never" ] && [ -d "/proc/$owner" ]; }

# Waits without starting a process.
pause() { read -rt "$1" <>"$dir/never"; }

# State and start time of a process, from /proc; fails when it is gone.
look() { # PID
  local line
  line=$(<"/proc/$1/stat") || return
  # shellcheck disable=SC2086
  set -- ${line##*) }
  state=$1 started=${20}
} 2>/dev/null

beat_until_killed() {
  [ "$stubborn$hang" = 00 ] || trap '' TERM
  while wanted; do
    note beat
    pause 0.05
  done
}

start_beating() {
  local state started
  beat_until_killed </dev/null >/dev/null 2>&1 &
  look $! && echo "$node ${token:--} $started" >"$dir/alive/$!"
}

# Calls its arguments with PID STATE NODE TOKEN for everything that beats.
each_beating() {
  local file pid of_node of_token since state started
  for file in "$dir"/alive/*; do
    pid=${file##*/}
    read -r of_node of_token since <"$file" || continue
    look "$pid" && [ "$started" = "$since" ] && "$@" "$pid" "$state" "$of_node" "${of_token#-}"
  done 2>/dev/null
}

witness() { alive+="${alive:+,}{\"node\":\"$3\",\"token\":\"$4\",\"state\":\"$2\"}"; }
kill_own() { [ "$3" != "$node" ] || [ "$4" != "$token" ] || end "$1"; }
kill_target() { [ "$3" != "${PETREL_TARGET:-}" ] || { end "$1" && note killed "$3" "$4"; }; }

end() { # PID
  kill -KILL "$1"
  while look "$1" && [ "$state" != Z ]; do pause 0.005; done
  rm -f "$dir/alive/$1"
}

behave() {
  if [ "$hang" != 0 ]; then
    trap '' TERM
    while wanted; do pause 1; done
  fi
  local ms=$((10#$take_ms))
  [ "$ms" = 0 ] || pause "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
}

alive=
[ ! -e "$dir/behaviour/$node.$phase" ] || . "$dir/behaviour/$node.$phase"
case $phase in
  takeover | run) each_beating witness ;;
esac
note started "$node" "$token" "$alive"
case $phase in
  takeover)
    start_beating
    behave
    ;;
  run)
    trap 'each_beating kill_own; note ended; exit $exit_code' TERM
    start_beating
    while wanted; do pause 0.05; done
    ;;
  release)
    start_beating
    behave
    if [ "$leave" = 0 ]; then each_beating kill_own; else end $!; fi
    ;;
  fence)
    behave
    [ "$exit_code" != 0 ] || each_beating kill_target
    ;;
  *) behave ;;
esac
note ended
exit "$exit_code"
