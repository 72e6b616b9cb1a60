/**
 * Shell script between the worker and a container engine. An engine does not stop its container
 * when the engine process is killed; this script does. Usage: `sh -c GUARD guard ENGINE NAME
 * ARGUMENT...`, where the arguments are those of the engine's `run`.
 *
 * The script reports the first process of the container on file descriptor 3, in the format of
 * bubblewrap. That descriptor is a socket whose other end only the worker holds: when the worker
 * exits, the socket closes and the script stops the container. SIGTERM stops the container, too.
 * The exit code is that of the container.
 *
 * Only SIGKILL reliably ends the subshell that reads from the socket, because a subshell that has just been
 * forked ignores other signals. A signal to the script interrupts `wait`, so it is repeated.
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
until
  wait "$run"
  code=$?
  ! kill -0 "$run" 2>/dev/null
do :; done
kill -KILL "$watch" 2>/dev/null
exit "$code"
`;

/** Exit code of a container in which the kernel killed a process because of its memory limit. */
export const OUT_OF_MEMORY_CODE = 250;

/**
 * Shell script that runs as the first process of a container. The script reads the environment from a
 * file, because variables in the engine's own environment would change the engine's behavior. It does not
 * `exec` the command, because process 1 has to reap orphaned processes. Engines do not report an
 * out-of-memory kill reliably; the container's own cgroup does, in one of the two cgroup versions.
 */
export const FIRST_PROCESS = `
. "$0"
"$@"
code=$?
counts='/sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control'
[ "$code" -eq 0 ] || ! grep -qs '^oom_kill [1-9]' $counts || code=${OUT_OF_MEMORY_CODE}
exit "$code"
`;
