/** Metrics of one process in the format that prom-client exports and aggregates. */
export type Metrics = object[];

/** Message from a member of a process group to the process that forked it. */
export type MemberMessage =
  | { says: 'take'; id: number; key: string; most: number }
  | { says: 'free'; key: string }
  | { says: 'gather'; id: number }
  | { says: 'measured'; id: number; metrics: Metrics };

/** Message to a member of a process group. */
export type GroupMessage =
  | { says: 'taken'; id: number; isTaken: boolean }
  | { says: 'measure'; id: number }
  | { says: 'gathered'; id: number; metrics: Metrics[] };

const isOurs = (message: unknown): boolean =>
  typeof message === 'object' && message !== null && 'says' in message;

/** Identifies the messages of this program: libraries use the same channel. */
export const isMemberMessage = (message: unknown): message is MemberMessage => isOurs(message);
export const isGroupMessage = (message: unknown): message is GroupMessage => isOurs(message);
