/**
 * Stands between the worker and an engine, which does not end what it has started when it is ended
 * itself: `sh -c GUARD guard ENGINE NAME ARGUMENT...`, the arguments those of the engine's `run`.
 *
 * It tells the first process of the container on file descriptor 3, in the words of bubblewrap. That
 * descriptor is a socket whose other end only the worker has: its end is the end of the worker, and
 * of the container. SIGTERM ends the container, too, and the exit code is that of the container.
 */
export const GUARD = `
engine=$1 name=$2
shift 2
exec 5<&0
"$engine" "$@" <&5 3>&- 5<&- &
run=$!
exec 5<&- </dev/null
stop() {
  "$engine" kill --signal KILL "$name" || kill -KILL "$run"
  "$engine" rm --force "$name"
} >/dev/null 2>&1
trap stop TERM
{ read -r _ <&3; stop; } >/dev/null 2>&1 &
watch=$!
{
  while kill -0 "$run"; do
    first=$("$engine" container inspect --format '{{.State.Pid}}' "$name" 3>&-)
    if [ "\${first:-0}" -gt 0 ]; then
      printf '{"child-pid": %s}\\n' "$first" >&3
      break
    fi
    sleep 0.05
  done
} >/dev/null 2>&1 &
code=
while kill -0 "$run" 2>/dev/null; do
  wait "$run"
  code=$?
done
kill "$watch" 2>/dev/null
exit "$code"
`;

/** Exit code of a container in which the kernel has ended a process for want of memory. */
export const RAN_OUT = 250;

/**
 * The first process of a container: takes the environment from a file, because in the engine's own it
 * would steer the engine; and it stays, because who is first has to clear away what others leave. Engines
 * do not reliably tell of memory; its own group does, in one of two versions of the kernel's.
 */
export const FIRST = `
. "$0"
"$@"
code=$?
counts='/sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control'
[ "$code" -eq 0 ] || ! grep -qs '^oom_kill [1-9]' $counts || code=${RAN_OUT}
exit "$code"
`;
